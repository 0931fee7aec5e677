package lane_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"treecast/node/lane"
	"treecast/wire/beef"
)

// startUDP opens an ingress with one UDP door and returns a socket that sends to it.
func startUDP(t *testing.T, cfg lane.IngressConfig, addr string) (*lane.Ingress, net.Conn) {
	t.Helper()
	cfg.Doors = []lane.Door{{Addr: addr, UDP: true}}
	in := startIngress(t, cfg)
	nc, err := net.Dial("udp", in.Addrs()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return in, nc
}

// settledDatagrams waits until the door has taken n datagrams and settled what they held.
func settledDatagrams(t *testing.T, in *lane.Ingress, n int) lane.IngressCounters {
	t.Helper()
	var c lane.IngressCounters
	eventually(t, fmt.Sprint(n, " datagrams settled"), func() bool {
		c = in.Counters()
		ended := c.Published
		for _, by := range []map[string]uint64{c.Dropped, c.Rejected, c.Failed} {
			for _, k := range by {
				ended += k
			}
		}
		return ended == uint64(n)
	})
	return c
}

// TestDatagramRecordVectors sends every record vector in a datagram of its own.
func TestDatagramRecordVectors(t *testing.T) {
	v := mustVectors(t)
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(addr, func(t *testing.T) {
			c := newCohort(t, nil)
			in, nc := startUDP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited}, addr)
			var want [][]byte
			for i, r := range v.Records.Items {
				rec := unhex(t, r.Record)
				write(t, nc, rec)
				settledDatagrams(t, in, i+1)
				want = append(want, append(numbered(t, r.Frames["1"].Header, hashKey(), uint64(i)+1), rec...))
			}
			compareChunks(t, c.seen(), want)
		})
	}
}

// TestDatagramVectors sends everything else, valid or not: nothing is answered,
// nothing but one whole unit is taken, and the door stays open.
func TestDatagramVectors(t *testing.T) {
	v := mustVectors(t)
	type unit struct {
		id, words string
		b         []byte
	}
	var units []unit
	add := func(id, words, hex string) { units = append(units, unit{id, words, unhex(t, hex)}) }
	for _, r := range v.InvalidRecords.Items {
		add(r.ID, r.Spec.Datagram, r.Hex)
	}
	for _, f := range v.InvalidFrames.Items {
		add(f.ID, f.Spec.Datagram, f.Hex)
	}
	for _, d := range v.Detect.Items {
		add(d.ID, "drop", d.Lead)
	}
	for _, s := range v.Streams.Items {
		add(s.ID, "drop", s.Hex)
	}
	for _, s := range v.Fragments.Sets {
		for i, f := range s.Fragments {
			add(fmt.Sprint(s.ID, i), "drop", f)
		}
	}
	for _, f := range v.Records.Variants {
		add(f.ID, "accept", f.Frame)
	}
	c := newCohort(t, nil)
	limits := unlimited
	limits.Window = -1 // the same record comes in several vectors
	in, nc := startUDP(t, lane.IngressConfig{Publishers: only(c), Limits: limits}, "127.0.0.1:0")
	for i, u := range units {
		before := in.Counters()
		write(t, nc, u.b)
		after := settledDatagrams(t, in, i+1)
		_, err := beef.ParseSubmission(u.b, 0)
		taken := after.Published == before.Published+1
		if taken != (err == nil) {
			t.Errorf("%s: taken: %v, the decoder says %v", u.id, taken, err)
		}
		if refuse := strings.Contains(u.words, "drop") || strings.HasPrefix(u.words, "reject"); refuse && taken {
			t.Errorf("%s: taken, the vector says %q", u.id, u.words)
		} else if strings.Contains(u.words, "accept") && !taken {
			t.Errorf("%s: not taken, the vector says %q: %v", u.id, u.words, err)
		}
		if fault := new(beef.FaultError); errors.As(err, &fault) {
			was, is := before.Dropped[fault.Reason], after.Dropped[fault.Reason]
			if errors.Is(err, beef.ErrRejected) {
				was, is = before.Rejected[fault.Reason], after.Rejected[fault.Reason]
			}
			if is != was+1 {
				t.Errorf("%s: not counted as %s", u.id, fault.Reason)
			}
		}
	}
	nc.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := nc.Read(make([]byte, 1)); err == nil {
		t.Errorf("the door answered %d bytes", n)
	}
}

// TestDatagramFragments: an object that fills a datagram is cut into chunks.
func TestDatagramFragments(t *testing.T) {
	c := newCohort(t, nil)
	in, nc := startUDP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited}, "127.0.0.1:0")
	write(t, nc, submission(t, "udp", 60000, "a"))
	settledDatagrams(t, in, 1)
	if n := len(c.seen()); n != 16 {
		t.Errorf("%d chunks, want 16", n)
	}
}

// TestDatagramBounds: what is over a rate or the backlog is dropped and counted.
func TestDatagramBounds(t *testing.T) {
	for _, test := range []struct {
		name   string
		limits lane.IngressLimits
		reason string
	}{
		{"objects", lane.IngressLimits{Objects: 5, Bytes: -1, NodeObjects: -1}, lane.ReasonObjects},
		{"bytes", lane.IngressLimits{Objects: -1, Bytes: 5000, NodeObjects: -1}, lane.ReasonBytes},
		{"node", lane.IngressLimits{Objects: -1, Bytes: -1, NodeObjects: 5}, lane.ReasonNode},
		{"backlog", lane.IngressLimits{Objects: -1, Bytes: -1, NodeObjects: -1, Backlog: 5 * beef.MaxChunk}, lane.ReasonBacklog},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCohort(t, nil)
			in, nc := startUDP(t, lane.IngressConfig{Publishers: only(c), Limits: test.limits}, "127.0.0.1:0")
			open := func() {}
			if test.reason == lane.ReasonBacklog {
				open = c.shut(t, &c.receipts)
			}
			var first []byte
			for i := range 20 {
				rec := submission(t, string(rune('A'+i)), 990, "a")
				if i == 19 {
					first = rec
				}
				write(t, nc, rec)
				eventually(t, "datagram taken", func() bool { return in.Counters().Datagrams == uint64(i)+1 })
			}
			eventually(t, "datagrams judged", func() bool { c := in.Counters(); return c.Objects+c.Dropped[test.reason] == 20 })
			open()
			got := in.Counters()
			if got.Objects < 5 || got.Objects > 7 || len(got.Dropped) != 1 {
				t.Errorf("%d objects taken, dropped %v", got.Objects, got.Dropped)
			}
			if test.reason == lane.ReasonBacklog { // what was dropped was released
				eventually(t, "backlog settled", func() bool { return in.Counters().Published == got.Objects })
				write(t, nc, first)
				eventually(t, "object taken", func() bool { return in.Counters().Published == got.Objects+1 })
			}
		})
	}
}

// TestDatagramDeliverCount: a source address proves nothing, so no more than one
// name is deliverable whatever the frame says, and a door that should allow more
// is refused.
func TestDatagramDeliverCount(t *testing.T) {
	for _, door := range []lane.Door{
		{Addr: "127.0.0.1:0", UDP: true, DeliverCap: 2, Allow: loopback},
		{Addr: "127.0.0.1:0", UDP: true, RecordsOnly: true},
	} {
		in, err := lane.NewIngress(lane.IngressConfig{Publishers: only(newCohort(t, nil)), Doors: []lane.Door{door}})
		if err == nil {
			in.Close()
			t.Errorf("%+v was opened", door)
		}
	}
	v := mustVectors(t)
	c := newCohort(t, nil)
	in, nc := startUDP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited}, "127.0.0.1:0")
	r := v.record(t, "three_topics_small")
	write(t, nc, append(unhex(t, r.Frames["3"].Header), unhex(t, r.Record)...))
	settledDatagrams(t, in, 1)
	if got := c.seen()[0][7]; got != 1 {
		t.Errorf("DeliverCount %d, want 1", got)
	}
}
