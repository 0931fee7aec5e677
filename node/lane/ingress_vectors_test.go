package lane_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"treecast/node/lane"
	"treecast/wire/beef"
)

// TestRecordVectors sends every record vector through the shared door and the
// record door, over IPv4 and IPv6, and compares what is published with the
// vector's frame.
func TestRecordVectors(t *testing.T) {
	v := mustVectors(t)
	for _, test := range []struct {
		name  string
		door  lane.Door
		count string // key of the vector's frames
	}{
		{"shared ipv4", lane.Door{Addr: "127.0.0.1:0"}, "1"},
		{"shared ipv6", lane.Door{Addr: "[::1]:0"}, "1"},
		{"record port", lane.Door{Addr: "127.0.0.1:0", RecordsOnly: true}, "1"},
		{"allowed", lane.Door{Addr: "127.0.0.1:0", DeliverCap: 3, Allow: loopback}, "3"},
		{"not in the list", lane.Door{Addr: "127.0.0.1:0", DeliverCap: 3, Allow: elsewhere}, "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCohort(t, nil)
			in := startIngress(t, lane.IngressConfig{Publishers: only(c), Doors: []lane.Door{test.door}, Limits: unlimited})
			var all []byte
			var want [][]byte
			for i, r := range v.Records.Items {
				rec := unhex(t, r.Record)
				all = append(all, rec...)
				head := numbered(t, r.Frames[test.count].Header, hashKey(), uint64(i)+1)
				want = append(want, append(head, rec...))
			}
			submit(t, in.Addrs()[0], all)
			compareChunks(t, c.seen(), want)
			if n := in.Counters().Published; n != uint64(len(want)) {
				t.Errorf("%d objects published, want %d", n, len(want))
			}
		})
	}
}

var (
	loopback  = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	elsewhere = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::/0")}
)

// TestFrameVectors sends object frames, records and bare objects in them: HashKey,
// SeqNum and DeliverCount are overwritten.
func TestFrameVectors(t *testing.T) {
	v := mustVectors(t)
	c := newCohort(t, nil)
	limits := unlimited
	limits.Window = -1 // the same record comes in several vectors
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: limits})
	objects := make(map[string][]byte)
	for _, o := range v.Objects.Items {
		objects[o.ID] = unhex(t, o.Hex)
	}
	var all []byte
	var want [][]byte
	add := func(header string, payload []byte) {
		all = append(append(all, unhex(t, header)...), payload...)
		head := numbered(t, header, hashKey(), uint64(len(want))+1)
		head[4], head[5], head[7] = 0x02, 0xBF, 1
		want = append(want, append(head, payload...))
	}
	for _, r := range v.Records.Items {
		add(r.Frames["3"].Header, unhex(t, r.Record))
	}
	for _, b := range v.Records.Bare {
		add(b.Header, objects[b.ObjectID])
	}
	for _, f := range v.Records.Variants {
		add(f.Frame[:2*beef.HeaderSize], unhex(t, f.Frame[2*beef.HeaderSize:]))
	}
	submit(t, in.Addrs()[0], all)
	compareChunks(t, c.seen(), want)
}

func compareChunks(t *testing.T, got, want [][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d chunks published, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("chunk %d:\n got %x\nwant %x", i, got[i], want[i])
		}
	}
}

// TestDetectVectors: what is neither record nor frame closes the connection.
func TestDetectVectors(t *testing.T) {
	v := mustVectors(t)
	c := newCohort(t, nil)
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	bare := uint64(0)
	for _, d := range v.Detect.Items {
		nc := dial(t, in.Addrs()[0])
		write(t, nc, unhex(t, d.Lead))
		if d.Grammar == "bare_tx" {
			awaitClose(t, nc)
			bare++
		}
	}
	if n := in.Counters().Closed[beef.ReasonBareTx]; n != bare {
		t.Errorf("%d connections closed as bare transactions, want %d", n, bare)
	}
}

// outcome is what a whole stream of bytes leads to.
type outcome struct {
	objects  int
	rejected map[string]uint64
	closed   string // reason; empty: ended well
}

// scanned works the outcome out with the decoder alone, as the vectors' reasons
// are not spelt like ours.
func scanned(t *testing.T, b []byte, recordsOnly bool, maxObject int) outcome {
	t.Helper()
	s, err := beef.NewScanner(beef.ScannerConfig{RecordsOnly: recordsOnly, MaxObject: maxObject})
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{rejected: make(map[string]uint64)}
	fault := new(beef.FaultError)
	for len(b) > 0 {
		b = b[s.Feed(b):]
		for {
			_, err := s.Next()
			if err == nil {
				o.objects++
				continue
			}
			if !errors.As(err, &fault) {
				break
			}
			if errors.Is(err, beef.ErrMalformed) {
				o.closed = fault.Reason
				return o
			}
			o.rejected[fault.Reason]++
		}
	}
	if errors.As(s.End(), &fault) {
		o.closed = fault.Reason
	}
	return o
}

// check sends b and compares what the door did with the outcome, and the outcome
// with the words of the vector.
func (o outcome) check(t *testing.T, recordsOnly bool, words string, send func(net.Conn)) {
	t.Helper()
	c := newCohort(t, nil)
	limits := unlimited
	limits.Window = -1
	in := startIngress(t, lane.IngressConfig{
		Publishers: only(c), Limits: limits,
		Doors: []lane.Door{{Addr: "127.0.0.1:0", RecordsOnly: recordsOnly}},
	})
	other := dial(t, in.Addrs()[0]) // is not touched by what happens beside it
	nc := dial(t, in.Addrs()[0])
	send(nc)
	if strings.HasPrefix(words, "close") && !strings.Contains(words, "EOF") && o.closed == "" {
		t.Errorf("vector says %q, the connection was kept", words)
	}
	if strings.HasPrefix(words, "reject") && (len(o.rejected) == 0) != strings.Contains(words, "any sane size") {
		t.Errorf("vector says %q, rejected: %v", words, o.rejected)
	}
	if o.closed == "" || o.closed == beef.ReasonTruncated {
		nc.CloseWrite()
	}
	awaitClose(t, nc)
	eventually(t, "close counted", func() bool { return in.Counters().Open == 1 })
	eventually(t, "objects published", func() bool { return len(c.seen()) >= o.objects })
	got := in.Counters()
	if int(got.Objects) != o.objects || len(c.seen()) != o.objects {
		t.Errorf("%d objects taken, %d chunks published, want %d", got.Objects, len(c.seen()), o.objects)
	}
	if fmt.Sprint(got.Rejected) != fmt.Sprint(o.rejected) {
		t.Errorf("rejected %v, want %v", got.Rejected, o.rejected)
	}
	closed := map[string]uint64{}
	if o.closed != "" {
		closed[o.closed] = 1
	}
	if fmt.Sprint(got.Closed) != fmt.Sprint(closed) {
		t.Errorf("closed %v, want %v", got.Closed, closed)
	}
	write(t, other, unhex(t, mustVectors(t).record(t, "one_topic_small").Record))
	eventually(t, "object on the other connection", func() bool { return in.Counters().Published == uint64(o.objects)+1 })
}

func TestInvalidRecordVectors(t *testing.T) {
	for _, r := range mustVectors(t).InvalidRecords.Items {
		for _, recordsOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/records_only=%v", r.ID, recordsOnly), func(t *testing.T) {
				b := unhex(t, r.Hex)
				scanned(t, b, recordsOnly, 0).check(t, recordsOnly, r.Spec.Stream, func(nc net.Conn) { write(t, nc, b) })
			})
		}
	}
}

func TestInvalidFrameVectors(t *testing.T) {
	for _, f := range mustVectors(t).InvalidFrames.Items {
		t.Run(f.ID, func(t *testing.T) {
			b := unhex(t, f.Hex)
			scanned(t, b, false, 0).check(t, false, f.Spec.Stream, func(nc net.Conn) { write(t, nc, b) })
		})
	}
}

// TestStreamVectors: the same, in one write and byte by byte.
func TestStreamVectors(t *testing.T) {
	for _, s := range mustVectors(t).Streams.Items {
		b := unhex(t, s.Hex)
		o := scanned(t, b, false, 0)
		units := 0
		for _, u := range s.Units {
			if !strings.HasPrefix(u, "(rejected") {
				units++
			}
		}
		if o.objects != units {
			t.Errorf("%s: %d units, vector has %d", s.ID, o.objects, units)
		}
		t.Run(s.ID+"/whole", func(t *testing.T) {
			o.check(t, false, s.Ends, func(nc net.Conn) { write(t, nc, b) })
		})
		t.Run(s.ID+"/bytes", func(t *testing.T) {
			o.check(t, false, s.Ends, func(nc net.Conn) {
				for i := range b {
					if _, err := nc.Write(b[i : i+1]); err != nil {
						return // the door has closed on what came before
					}
				}
			})
		})
	}
}

// TestOversizeVectors: an object at the bound passes, one byte more is skipped and
// the connection kept, more than twice the bound closes it.
func TestOversizeVectors(t *testing.T) {
	v := mustVectors(t)
	bound := v.InvalidRecords.Oversize.Bound
	small := unhex(t, v.record(t, "one_topic_small").Record)
	atBound, err := beef.AppendRecord(nil, []string{"tm_ship"}, v.synthetic(t, "synthetic_1m"))
	if err != nil {
		t.Fatal(err)
	}
	over, err := beef.AppendRecord(nil, []string{"tm_ship"}, v.synthetic(t, "synthetic_1m_plus_1"))
	if err != nil {
		t.Fatal(err)
	}
	c := newCohort(t, nil)
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited, MaxObject: bound})
	submit(t, in.Addrs()[0], atBound, over, small)
	got := in.Counters()
	if got.Published != 2 || got.Rejected[beef.ReasonOversize] != 1 || len(got.Closed) != 0 {
		t.Errorf("published %d, rejected %v, closed %v", got.Published, got.Rejected, got.Closed)
	}
	nc := dial(t, in.Addrs()[0])
	write(t, nc, unhex(t, "beef010107746d5f73686970ffffffff0100beef"))
	awaitClose(t, nc)
	eventually(t, "close counted", func() bool { return in.Counters().Closed[beef.ReasonOversize] == 1 })
}
