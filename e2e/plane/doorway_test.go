package plane_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"treecast/e2e/cluster"
)

// patience bounds every wait for something that has to happen at a socket.
const patience = 10 * time.Second

// The doors of a doorway.
const (
	shared = "shared" // TCP, by the first bytes
	record = "record" // TCP, records alone
	udp    = "udp"
)

// doorSender is the sender of all frames below; its hash key is in the vectors.
const doorSender = "fd00::1234"

// doorway is a broker with every door, and a consumer that gets what comes out of
// it as whole frames. What went in once does not come out again, so for a vector
// that did it starts anew.
type doorway struct {
	t       *testing.T // whose end ends it
	v       *vectors
	host    string // the doors' address
	args    []string
	hashKey []byte

	*cluster.Daemon
	out  *bufio.Reader
	lane net.Conn
	seen map[string]bool // payloads
	next uint64          // SeqNum
	sent uint32          // sentinels
}

// unit is an object that has to come out: its header as the vectors have it, but
// for the hash key and the number, and its payload.
type unit struct{ header, payload []byte }

// newDoorway starts one with further flags.
func newDoorway(t *testing.T, v *vectors, host string, args ...string) *doorway {
	t.Helper()
	d := &doorway{t: t, v: v, host: host, args: args}
	for i := range v.HashKey.Items {
		if h := &v.HashKey.Items[i]; h.Sender == doorSender && h.Group == 0x1000 {
			d.hashKey = h.Key
		}
	}
	if d.hashKey == nil {
		t.Fatalf("no hash key of %s", doorSender)
	}
	d.start(t)
	t.Cleanup(func() { d.lane.Close() })
	return d
}

func (d *doorway) start(t *testing.T) {
	t.Helper()
	if d.Daemon != nil {
		d.lane.Close()
		d.Kill()
	}
	at := d.host + ":0"
	args := append([]string{
		"--broker", "--log-level", "error", "--sender", doorSender, "--object-max", "1048576",
		"--ingress-tcp", at, "--ingress-record", at, "--ingress-udp", at, "--egress-listen", "127.0.0.1:0",
	}, unlimited...)
	d.Daemon = cluster.StartNode(d.t, treecast, "doors", append(args, d.args...)...)
	d.seen, d.next = make(map[string]bool), 1
	d.lane = listenLane(t, d.Daemon, `{"format":"frame"}`)
	d.out = bufio.NewReader(d.lane)
}

// awaitConsumers waits until a node has so many consumers.
func awaitConsumers(t *testing.T, n *cluster.Daemon, want float64) {
	t.Helper()
	cluster.Eventually(t, patience, "consumers", func() (bool, string) {
		now := n.Metric(t, "treecast_egress_consumers")
		return now == want, fmt.Sprintf("%v, want %v", now, want)
	})
}

// listenLane connects to a node's listening lane with an election line, as its only
// consumer, and waits until it is served.
func listenLane(t *testing.T, n *cluster.Daemon, line string) net.Conn {
	t.Helper()
	awaitConsumers(t, n, 0)
	nc, err := net.Dial("tcp", n.Egress)
	if err != nil {
		t.Fatal(err)
	}
	nc.(*net.TCPConn).SetLinger(0) // a close that the edge sees: one that ends only its half stays
	write(t, nc, []byte(line+"\n"))
	awaitConsumers(t, n, 1)
	return nc
}

// fresh has a doorway that none of the payloads went through.
func (d *doorway) fresh(t *testing.T, payloads ...[]byte) {
	t.Helper()
	for _, p := range payloads {
		if d.seen[string(p)] {
			d.start(t)
			return
		}
	}
}

// addr is the address of a door.
func (d *doorway) addr(door string) string {
	switch door {
	case record:
		return d.Ingress[1]
	case udp:
		return d.IngressUDP
	}
	return d.Ingress[0]
}

// dial connects to a door.
func (d *doorway) dial(t *testing.T, door string) net.Conn {
	t.Helper()
	network := "tcp"
	if door == udp {
		network = udp
	}
	nc, err := net.Dial(network, d.addr(door))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc
}

func write(t *testing.T, nc net.Conn, b []byte) {
	t.Helper()
	nc.SetWriteDeadline(time.Now().Add(patience))
	if _, err := nc.Write(b); err != nil {
		t.Fatal(err)
	}
}

// expect reads the next frame of the lane and compares it.
func (d *doorway) expect(t *testing.T, want unit) {
	t.Helper()
	d.lane.SetReadDeadline(time.Now().Add(patience))
	head := make([]byte, 92)
	if _, err := io.ReadFull(d.out, head); err != nil {
		t.Fatalf("no frame: %v, want %.60x", err, want.payload)
	}
	payload := make([]byte, binary.BigEndian.Uint32(head[88:]))
	if _, err := io.ReadFull(d.out, payload); err != nil {
		t.Fatal(err)
	}
	header := bytes.Clone(want.header)
	copy(header[40:], d.hashKey)
	binary.BigEndian.PutUint64(header[48:], d.next)
	if !bytes.Equal(head, header) || !bytes.Equal(payload, want.payload) {
		t.Fatalf("frame\n got %x %.120x\nwant %x %.120x", head, payload, header, want.payload)
	}
	d.seen[string(payload)] = true
	d.next += chunksOf(len(payload))
}

// chunksOf is how many numbers a payload takes: one if its frame fits a chunk, else
// one for each 3992 bytes.
func chunksOf(payload int) uint64 {
	if 92+payload <= 4096 {
		return 1
	}
	return uint64((payload + 3991) / 3992)
}

// sentinel is an object of its own, as a record or framed. It comes out behind
// whatever went in before it.
func (d *doorway) sentinel(t *testing.T, framed bool) (b []byte, out unit) {
	t.Helper()
	d.sent++
	small := d.v.record(t, "one_topic_small")
	rec := bytes.Clone(small.Record)
	binary.BigEndian.PutUint32(rec[len(rec)-4:], 0xF0000000|d.sent)
	header := bytes.Clone(small.Frames["1"].Header)
	copy(header[8:40], doubleSHA(rec))
	out = unit{header, rec}
	if framed {
		return append(bytes.Clone(header), rec...), out
	}
	return rec, out
}

// awaitClose waits until the door closes a connection, with or without a reset, and
// fails if it said anything.
func awaitClose(t *testing.T, nc net.Conn) {
	t.Helper()
	nc.SetReadDeadline(time.Now().Add(patience))
	b, err := io.ReadAll(nc)
	if isTimeout(err) {
		t.Fatal("the connection stayed open")
	}
	if len(b) > 0 {
		t.Fatalf("the door answered %q", b)
	}
}

// staysOpen checks that a door has not closed a connection.
func staysOpen(t *testing.T, nc net.Conn) {
	t.Helper()
	nc.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err := nc.Read(make([]byte, 1)); n > 0 || !isTimeout(err) {
		t.Fatalf("%d bytes and %v from a connection that should be kept", n, err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// counts are the counters of refusals, by kind and reason as in
// `closed/bad_tag`.
func (d *doorway) counts(t *testing.T) map[string]int {
	t.Helper()
	all := make(map[string]int)
	for series, n := range d.Metrics(t) {
		kind, reason, ok := strings.Cut(strings.TrimPrefix(series, "treecast_ingress_"), `_total{reason="`)
		if ok && strings.HasPrefix(series, "treecast_ingress_") && kind != "throttled" {
			all[kind+"/"+strings.TrimSuffix(reason, `"}`)] = int(n)
		}
	}
	return all
}

// counted checks what was counted since before, each once, in words like
// `closed/bad_tag`.
func (d *doorway) counted(t *testing.T, before map[string]int, want ...string) {
	t.Helper()
	expected := make(map[string]int)
	for _, w := range want {
		expected[w]++
	}
	cluster.Eventually(t, patience, "the counters tell", func() (bool, string) {
		got := make(map[string]int)
		for reason, n := range d.counts(t) {
			if n -= before[reason]; n > 0 {
				got[reason] = n
			}
		}
		state := fmt.Sprintf("counted %v, want %v", got, expected)
		return fmt.Sprint(got) == fmt.Sprint(expected), state
	})
}
