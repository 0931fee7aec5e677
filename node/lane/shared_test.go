package lane

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"treecast/wire/beef"
)

// inPieces returns the fragments of an object that is told from others by its number,
// and its payload.
func inPieces(t *testing.T, number, size int) (fragments [][]byte, payload []byte) {
	t.Helper()
	object := append([]byte{0x01, 0x00, 0xbe, 0xef}, bytes.Repeat(fmt.Appendf(nil, "%08d", number), size/8)...)
	record, err := beef.AppendRecord(nil, []string{"a"}, object)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := beef.ParseSubmission(record, 0)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := beef.Chunks(&sub.Frame, nil)
	if err != nil {
		t.Fatal(err)
	}
	for c := range chunks {
		fragments = append(fragments, bytes.Clone(c))
	}
	return fragments, record
}

// await waits for a condition.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: still not", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// edge is an egress with consumers that connected over TCP.
func edge(t *testing.T, consumers int) (*Egress, []net.Conn) {
	t.Helper()
	e, err := NewEgress(EgressConfig{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	conns := make([]net.Conn, consumers)
	for i := range conns {
		if conns[i], err = net.Dial("tcp", e.Addr().String()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conns[i].Close() })
		if _, err := conns[i].Write([]byte("{}\n")); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "consumers connected", func() bool { return len(e.Counters().Consumers) == consumers })
	return e, conns
}

// readOne reads one delivery record whose payload is want.
func readOne(nc net.Conn, want []byte) error {
	nc.SetReadDeadline(time.Now().Add(10 * time.Second))
	got := make([]byte, beef.DeliveryHeaderSize+len(want))
	if _, err := io.ReadFull(nc, got); err != nil {
		return err
	}
	if !bytes.Equal(got[beef.DeliveryHeaderSize:], want) {
		return fmt.Errorf("another payload")
	}
	return nil
}

// TestSharedComesBack: when the last consumer has an object, the next one is put
// together in its memory; with no consumer for it, at once.
func TestSharedComesBack(t *testing.T) {
	e, conns := edge(t, 2)
	back := func() (first *byte) {
		e.back.mu.Lock()
		defer e.back.mu.Unlock()
		if len(e.back.list) == 1 {
			first = &e.back.list[0][:1][0]
		}
		return first
	}
	var memory *byte
	for number := range 5 {
		fragments, payload := inPieces(t, number, 100_000)
		for _, f := range fragments {
			e.Handle(Message{Payload: f})
		}
		for _, nc := range conns {
			if err := readOne(nc, payload); err != nil {
				t.Fatal(err)
			}
		}
		await(t, "the payload is back", func() bool { return back() != nil })
		if number > 0 && back() != memory {
			t.Fatalf("object %d lies elsewhere", number)
		}
		memory = back()
		if number == 3 { // a repetition under a higher DeliverCount is for nobody
			for _, f := range fragments {
				f[7]++
				e.Handle(Message{Payload: f})
			}
			if got := e.Counters(); got.Repeated != 2 || got.Objects != 5 {
				t.Fatalf("repeated %d, objects %d", got.Repeated, got.Objects)
			}
		}
	}
}

// TestSharedStaysRight streams objects to consumers of which one goes in the middle
// and one reads late: what is read is always what was sent.
func TestSharedStaysRight(t *testing.T) {
	const objects = 60
	e, conns := edge(t, 4)
	type sent struct {
		fragments [][]byte
		payload   []byte
	}
	all := make([]sent, objects)
	for i := range all {
		all[i].fragments, all[i].payload = inPieces(t, i, 20_000+1000*(i*7%50))
	}
	var readers sync.WaitGroup
	handled := make(chan struct{})
	for i, nc := range conns {
		readers.Go(func() {
			most := objects
			switch i {
			case 0:
				defer nc.Close()
				most = objects / 3
			case 1:
				<-handled
			}
			for n := range most {
				if err := readOne(nc, all[n].payload); err != nil {
					t.Errorf("consumer %d, object %d: %v", i, n, err)
					return
				}
			}
		})
	}
	for i := range all {
		for _, f := range all[i].fragments {
			e.Handle(Message{Payload: f})
		}
	}
	close(handled)
	readers.Wait()
}

// TestHandedBackBounds: what waits to be used again is bounded in number and bytes.
func TestHandedBackBounds(t *testing.T) {
	var h handedBack
	h.put(make([]byte, beef.DefaultSpare+1))
	h.put(make([]byte, beef.DefaultSpare-1))
	h.put(make([]byte, 2))
	h.put(make([]byte, 1))
	if len(h.list) != 2 || h.bytes != beef.DefaultSpare {
		t.Errorf("%d payloads of %d bytes", len(h.list), h.bytes)
	}
	r, err := beef.NewReassembler(beef.ReassemblerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if h.giveTo(r); len(h.list) != 0 || h.bytes != 0 {
		t.Errorf("%d payloads of %d bytes stayed", len(h.list), h.bytes)
	}
	for range maxHandedBack + 1 {
		h.put(make([]byte, 1))
	}
	if len(h.list) != maxHandedBack {
		t.Errorf("%d payloads", len(h.list))
	}
}
