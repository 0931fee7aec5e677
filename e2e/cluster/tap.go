package cluster

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"treecast/wire/beef"
)

// A Tap is the consumer behind one node's dialled egress lane. It notes when each
// object of a load came, and compares every byte. The node may dial again.
type Tap struct {
	objects Objects
	ln      net.Listener
	wg      sync.WaitGroup

	mu        sync.Mutex
	conns     map[net.Conn]bool // nil once closed
	got       []int             // deliveries by object
	arrivals  []time.Time       // of the first delivery of each, in order
	corrupted int
}

// Gap is a time in which a tap got nothing new.
type Gap struct{ From, To time.Time }

// Length is how long the gap lasted.
func (g Gap) Length() time.Duration { return g.To.Sub(g.From) }

// NewTap listens on loopback until the test ends.
func NewTap(t testing.TB, objects Objects) *Tap {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Tap{objects: objects, ln: ln, got: make([]int, len(objects)), conns: make(map[net.Conn]bool)}
	p.wg.Go(p.accept) // ends with the listener
	t.Cleanup(p.close)
	return p
}

func (p *Tap) close() {
	p.ln.Close()
	p.mu.Lock()
	for c := range p.conns {
		c.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *Tap) accept() {
	for {
		conn, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		open := p.conns != nil
		if open {
			p.conns[conn] = true
		}
		p.mu.Unlock()
		if !open {
			conn.Close()
			return
		}
		p.wg.Go(func() { p.read(conn) }) // ends with the connection
	}
}

// read takes delivery records (PROTOCOL §7 Layouts) until the connection ends,
// which a killed node's may anywhere.
func (p *Tap) read(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	var head [beef.DeliveryHeaderSize]byte
	var payload []byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		size := int(binary.BigEndian.Uint32(head[32:]))
		if size == 0 || size > beef.DefaultMaxObject {
			p.take(nil, errors.New("length"))
			return
		}
		payload = append(payload[:0], make([]byte, size)...)
		if _, err := io.ReadFull(r, payload); err != nil {
			return
		}
		record, err := beef.ParsePayload(payload)
		p.take(record.Object, err)
	}
}

func (p *Tap) take(object []byte, err error) {
	now := time.Now()
	i, ok := p.objects.Number(object)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || !ok {
		p.corrupted++
		return
	}
	if p.got[i]++; p.got[i] == 1 {
		p.arrivals = append(p.arrivals, now)
	}
}

// Addr is where the node is to dial.
func (p *Tap) Addr() string { return p.ln.Addr().String() }

// Count is how many different objects have come.
func (p *Tap) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.arrivals)
}

// Faults are what came wrong: objects not at all or more than once, and
// deliveries of what nobody sent.
func (p *Tap) Faults() (missing, twice []int, corrupted int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, n := range p.got {
		switch {
		case n == 0:
			missing = append(missing, i)
		case n > 1:
			twice = append(twice, i)
		}
	}
	return missing, twice, p.corrupted
}

// Gaps are the times between two arrivals that lasted longer than that, in order.
func (p *Tap) Gaps(longer time.Duration) (gaps []Gap) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := 1; i < len(p.arrivals); i++ {
		if g := (Gap{p.arrivals[i-1], p.arrivals[i]}); g.Length() > longer {
			gaps = append(gaps, g)
		}
	}
	return gaps
}
