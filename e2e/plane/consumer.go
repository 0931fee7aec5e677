package plane

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Consumer listens, and whoever dials it sends it delivery records. It notes
// which objects of its sets come, how often, and in which order.
type Consumer struct {
	Name string
	ln   net.Listener
	wg   sync.WaitGroup

	mu     sync.Mutex
	cond   *sync.Cond // paused or open changed
	paused bool
	open   bool
	conn   net.Conn // the last one
	dials  int
	sets   map[uint64]*tally
	strays []string // what was none of the objects; the first few
}

// tally is what a consumer got of one set.
type tally struct {
	set      *Set
	got      []int
	at       []time.Time // of the first delivery
	distinct int
	repeats  int
	last     int // highest number so far
	disorder int // first deliveries below it
}

// rcvbuf keeps what the kernel holds for a consumer that does not read small.
const rcvbuf = 64 << 10

// NewConsumer listens on loopback until the test ends.
func NewConsumer(t testing.TB, name string, sets ...*Set) *Consumer {
	t.Helper()
	ln, err := (&net.ListenConfig{Control: smallBuffer}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Consumer{Name: name, ln: ln, open: true, sets: make(map[uint64]*tally)}
	c.cond = sync.NewCond(&c.mu)
	for _, s := range sets {
		c.sets[s.Seed] = &tally{set: s, got: make([]int, s.Len()), at: make([]time.Time, s.Len()), last: -1}
	}
	c.wg.Go(c.accept) // ends with the listener
	t.Cleanup(c.close)
	return c
}

// smallBuffer sets the buffer before a connection offers its window.
func smallBuffer(_, _ string, conn syscall.RawConn) (err error) {
	cerr := conn.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, rcvbuf) })
	return errors.Join(err, cerr)
}

// Addr is where it listens.
func (c *Consumer) Addr() string { return c.ln.Addr().String() }

func (c *Consumer) close() {
	c.ln.Close()
	c.mu.Lock()
	c.open = false
	if c.conn != nil {
		c.conn.Close()
	}
	c.cond.Broadcast()
	c.mu.Unlock()
	c.wg.Wait()
}

// accept serves one connection after the other: what one still brings comes before
// what the next one does.
func (c *Consumer) accept() {
	for {
		conn, err := c.ln.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		open := c.open
		c.conn = conn
		c.dials++
		c.mu.Unlock()
		if !open {
			conn.Close()
			return
		}
		c.read(conn)
	}
}

// read takes records until the connection ends, which a killed node's may anywhere.
func (c *Consumer) read(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	var payload []byte
	for c.reading() {
		var err error
		if _, payload, err = readDelivery(r, payload); err != nil {
			return
		}
		object, err := objectIn(payload)
		c.take(object, err)
	}
}

// reading waits while the consumer is stopped; false when it is closed.
func (c *Consumer) reading() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.paused && c.open {
		c.cond.Wait()
	}
	return c.open
}

// Stop has the consumer read nothing any more, its connections left open.
func (c *Consumer) Stop() { c.setPaused(true) }

// Go has it read on.
func (c *Consumer) Go() { c.setPaused(false) }

func (c *Consumer) setPaused(paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = paused
	c.cond.Broadcast()
}

// Dials is how often it was dialled.
func (c *Consumer) Dials() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dials
}

func (c *Consumer) take(object []byte, err error) {
	now := time.Now()
	var t *tally
	number, ok := 0, false
	if err == nil && len(object) >= minObject {
		if t = c.sets[binary.BigEndian.Uint64(object[4:])]; t != nil {
			number, ok = t.set.number(object)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ok {
		if len(c.strays) < 8 {
			c.strays = append(c.strays, fmt.Sprintf("%.40x, %v", object, err))
		}
		return
	}
	t.take(number, now)
}

func (t *tally) take(number int, now time.Time) {
	if t.got[number]++; t.got[number] > 1 {
		t.repeats++
		return
	}
	t.at[number] = now
	t.distinct++
	if number < t.last {
		t.disorder++
	}
	t.last = max(t.last, number)
}

// Count is how many different objects have come.
func (c *Consumer) Count() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.sets {
		n += t.distinct
	}
	return n
}

// A Tally is what came at a consumer.
type Tally struct {
	Objects  int // different ones
	Missing  []int
	Twice    []int // numbers of those that came again, each time
	Disorder int   // came after one with a higher number of their set
	Strays   []string
}

// Tally is what has come so far.
func (c *Consumer) Tally() (sum Tally) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.sets {
		sum.Objects += t.distinct
		sum.Disorder += t.disorder
		for number, n := range t.got {
			if n == 0 {
				sum.Missing = append(sum.Missing, number)
			}
			for range n - 1 {
				sum.Twice = append(sum.Twice, number)
			}
		}
	}
	sum.Strays = c.strays
	return sum
}

// Arrivals are when each object of a set came first; zero: not yet.
func (c *Consumer) Arrivals(s *Set) []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Time(nil), c.sets[s.Seed].at...)
}
