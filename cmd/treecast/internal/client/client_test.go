package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"treecast/cmd/treecast/internal/client"
	"treecast/wire/beef"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

var object = []byte("\x01\x00\xbe\xefan object")

func TestSenderWritesRecordsAndWaitsForTheEnd(t *testing.T) {
	ln := listen(t)
	got := make(chan []byte, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		b, _ := io.ReadAll(conn)
		got <- b
		conn.Close()
	}()
	s, err := client.Dial(t.Context(), ln.Addr().String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		if err := s.Send(t.Context(), []string{"tm_a", "tm_b"}, object, nil); err != nil {
			t.Fatal(err)
		}
	}
	fault := (*beef.FaultError)(nil)
	if err := s.Send(t.Context(), []string{"tm_a"}, []byte("no marker"), nil); !errors.As(err, &fault) {
		t.Errorf("object without a marker: %v", err)
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	record, _ := beef.AppendRecord(nil, []string{"tm_a", "tm_b"}, object)
	if b := <-got; !bytes.Equal(b, bytes.Repeat(record, 3)) {
		t.Errorf("sent %x", b)
	}
	if n, size := s.Sent(); n != 3 || size != 3*int64(len(object)) {
		t.Errorf("sent %d objects, %d bytes", n, size)
	}
}

func TestSenderKeepsTheRate(t *testing.T) {
	ln := listen(t)
	go func() {
		if conn, err := ln.Accept(); err == nil {
			io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	s, err := client.Dial(t.Context(), ln.Addr().String(), 100)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	start := time.Now()
	for range 6 {
		if err := s.Send(t.Context(), []string{"t"}, object, nil); err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(start); d < 45*time.Millisecond {
		t.Errorf("6 objects at 100/s in %v", d)
	}
}

func delivery(payload []byte) []byte {
	return beef.AppendDelivery(nil, &beef.Delivery{TopicID: beef.TopicIDOf("tm_a"), Payload: payload})
}

func TestServeTakesRecordsAndNamesTheFaultsOffset(t *testing.T) {
	ln := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got [][]byte
	refused := make(chan client.Refusal, 2)
	c := &client.Consumer{
		Handle: func(_ net.Addr, d beef.Delivery) error {
			got = append(got, bytes.Clone(d.Payload))
			return nil
		},
		Refuse: func(r client.Refusal) { refused <- r },
	}
	done := make(chan error, 1)
	go func() { done <- c.Serve(ctx, ln) }()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	good := delivery(object)
	bad := delivery([]byte("neither"))
	malformed := make([]byte, 36) // a payload of no bytes
	conn.Write(good)
	conn.Write(bad)
	conn.Write(append(good, malformed...))
	first, second := <-refused, <-refused
	fault := (*beef.FaultError)(nil)
	if !first.Kept || !errors.As(first.Err, &fault) || fault.Offset != len(good)+36 {
		t.Errorf("first refusal %+v", first)
	}
	if second.Kept || !errors.As(second.Err, &fault) || fault.Offset != 2*len(good)+len(bad)+32 {
		t.Errorf("second refusal %+v", second)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("serve: %v", err)
	}
	if len(got) != 2 || !bytes.Equal(got[0], object) || !bytes.Equal(got[1], object) {
		t.Errorf("got %q", got)
	}
}

func TestFetchElectsAndReportsARefusal(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		want   string
	}{
		"records": {answer: string(delivery(object)), want: ""},
		"refused": {answer: `{"error":"unknown field"}` + "\n", want: "client: the lane refuses the election: unknown field"},
		"cut":     {answer: string(delivery(object)[:40]), want: "short"},
		"nothing": {answer: ""},
	} {
		t.Run(name, func(t *testing.T) {
			ln := listen(t)
			line := make(chan string, 1)
			go func() {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				b := make([]byte, 1024)
				n, _ := conn.Read(b)
				line <- string(b[:n])
				io.WriteString(conn, tc.answer)
				conn.Close()
			}()
			n := 0
			c := &client.Consumer{Handle: func(net.Addr, beef.Delivery) error { n++; return nil }}
			err := c.Fetch(t.Context(), ln.Addr().String(), client.Election{Topics: []string{"tm_a"}})
			if got := <-line; got != `{"topics":["tm_a"]}`+"\n" {
				t.Errorf("election %q", got)
			}
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("error %v", err)
			case tc.want != "" && (err == nil || !bytes.Contains([]byte(err.Error()), []byte(tc.want))):
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if name == "records" && n != 1 {
				t.Errorf("%d records", n)
			}
		})
	}
}
