package plane_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"treecast/e2e/cluster"
)

// testReceive sends delivery records to `treecast receive` as an edge would.
func testReceive(t *testing.T, v *vectors, l ledger) {
	type summary struct {
		Summary                               bool
		Records, Objects, Duplicates, Refused int
	}
	run := func(t *testing.T, b []byte) (s summary, stderr string) {
		t.Helper()
		addr := cluster.FreePort(t)
		p := cluster.Start(t, "receive", treecast, "receive", "--json", "--listen", addr)
		var nc net.Conn
		cluster.Eventually(t, patience, "the consumer listens", func() (bool, string) {
			var err error
			nc, err = net.Dial("tcp", addr)
			return err == nil, fmt.Sprint(err)
		})
		write(t, nc, b)
		nc.(*net.TCPConn).CloseWrite()
		nc.SetReadDeadline(time.Now().Add(patience))
		if _, err := bufio.NewReader(nc).ReadByte(); isTimeout(err) || err == nil {
			t.Errorf("the consumer's end: %v", err)
		}
		nc.Close()
		p.Stop(t)
		lines := p.Lines()
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil || !s.Summary {
			t.Fatalf("%q: %v", lines, err)
		}
		return s, p.Stderr()
	}
	got, stderr := run(t, v.Delivery.Stream.Hex)
	if want := len(v.Delivery.Stream.Expect); got.Records != want || got.Refused != 0 {
		t.Errorf("stream_two_records: %+v, %s", got, stderr)
	}
	l.hit("delivery_records.stream_two_records", 0)
	for i := range v.Delivery.Invalid {
		x := &v.Delivery.Invalid[i]
		t.Run(x.ID, func(t *testing.T) {
			if got, stderr := run(t, x.Hex); got.Records != 0 || got.Refused != 1 {
				t.Errorf("%+v, %s", got, stderr)
			}
			l.hit("delivery_records.invalid", i)
		})
	}
}
