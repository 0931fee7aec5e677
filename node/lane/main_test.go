package lane_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"treecast/node/lane"
	"treecast/wire/beef"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait for something that has to happen.
const patience = 10 * time.Second

// cohort stands for a publisher and the tree behind it: what is published comes
// back down, in order, to whoever listens.
type cohort struct {
	down func([]byte) // called for each chunk, from one goroutine; may be nil

	mu        sync.Mutex
	next      uint64
	reserveIs error
	failAt    func(index uint64) error // may be nil
	calls     gate                     // passed by PublishAtAsync
	receipts  gate                     // passed by every receipt
	waiting   int                      // calls at a shut gate
	chunks    [][]byte
	queue     chan published
	done      chan struct{}
}

type published struct {
	payload []byte
	err     error
	done    func(error)
}

func newCohort(t *testing.T, down func([]byte)) *cohort {
	c := &cohort{down: down, queue: make(chan published, 16), done: make(chan struct{})}
	go func() { // ends when the test does
		defer close(c.done)
		for p := range c.queue {
			c.pass(&c.receipts)
			if p.err == nil && c.down != nil {
				c.down(p.payload)
			}
			p.done(p.err)
		}
	}()
	t.Cleanup(func() {
		close(c.queue)
		<-c.done
	})
	return c
}

func (c *cohort) Reserve(n int) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.next
	c.next += uint64(n)
	return first, c.reserveIs
}

func (c *cohort) PublishAtAsync(index uint64, payload []byte, done func(error)) {
	c.pass(&c.calls)
	c.mu.Lock()
	p := published{payload: bytes.Clone(payload), done: done}
	if len(payload) > beef.MaxChunk {
		p.err = errors.New("too long for a chunk")
	} else if binary.BigEndian.Uint64(payload[48:]) != index+1 {
		p.err = errors.New("sequence number is not the index and one")
	} else if c.failAt != nil {
		p.err = c.failAt(index)
	}
	if p.err == nil {
		c.chunks = append(c.chunks, p.payload)
	}
	c.mu.Unlock()
	c.queue <- p
}

// gate is nil while it is open.
type gate chan struct{}

func (c *cohort) pass(g *gate) {
	c.mu.Lock()
	shut := *g
	if shut != nil {
		c.waiting++
	}
	c.mu.Unlock()
	if shut == nil {
		return
	}
	<-shut
	c.set(func(c *cohort) { c.waiting-- })
}

// held is how many calls wait at a shut gate.
func (c *cohort) held() (n int) {
	c.set(func(c *cohort) { n = c.waiting })
	return n
}

// shut closes a gate until the returned function is called, at the latest at the
// end of the test.
func (c *cohort) shut(t *testing.T, g *gate) (open func()) {
	shut := make(gate)
	c.set(func(*cohort) { *g = shut })
	open = sync.OnceFunc(func() {
		c.set(func(*cohort) { *g = nil })
		close(shut)
	})
	t.Cleanup(open)
	return open
}

func (c *cohort) set(change func(*cohort)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

func (c *cohort) seen() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([][]byte(nil), c.chunks...)
}

// only is the one group of an unsharded plane.
func only(p lane.Publisher) map[uint32]lane.Publisher {
	return map[uint32]lane.Publisher{beef.BaseGroup: p}
}

// unlimited takes every rate off.
var unlimited = lane.IngressLimits{Objects: -1, Bytes: -1, NodeObjects: -1}

// startIngress opens an ingress with one shared door on loopback, unless cfg has
// doors of its own.
func startIngress(t *testing.T, cfg lane.IngressConfig) *lane.Ingress {
	t.Helper()
	if cfg.Doors == nil {
		cfg.Doors = []lane.Door{{Addr: "127.0.0.1:0"}}
	}
	in, err := lane.NewIngress(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

func startEgress(t *testing.T, cfg lane.EgressConfig) *lane.Egress {
	t.Helper()
	e, err := lane.NewEgress(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func dial(t *testing.T, addr net.Addr) *net.TCPConn {
	t.Helper()
	nc, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc.(*net.TCPConn)
}

// submit sends bytes over a connection of their own, closes the sending half, and
// waits until the door closes the other.
func submit(t *testing.T, addr net.Addr, b ...[]byte) {
	t.Helper()
	nc := dial(t, addr)
	for _, one := range b {
		write(t, nc, one)
	}
	if err := nc.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	awaitClose(t, nc)
}

func write(t *testing.T, nc net.Conn, b []byte) {
	t.Helper()
	nc.SetWriteDeadline(time.Now().Add(patience))
	if _, err := nc.Write(b); err != nil {
		t.Fatal(err)
	}
}

// awaitClose waits until the other end closed the connection, by FIN or reset, and
// fails if it sent anything.
func awaitClose(t *testing.T, nc net.Conn) {
	t.Helper()
	nc.SetReadDeadline(time.Now().Add(patience))
	b, err := io.ReadAll(nc)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatal("the connection stayed open")
	}
	if len(b) > 0 {
		t.Fatalf("the door answered %q", b)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: still not after %v", what, patience)
		}
		time.Sleep(time.Millisecond)
	}
}

// hashKey is the flow of the tests' ingresses, whose overlay is all zeros and whose group is the first.
func hashKey() uint64 { return beef.HashKey(beef.SenderOf([32]byte{}), beef.BaseGroup) }
