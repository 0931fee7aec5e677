package beef_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"treecast/wire/beef"
)

// object returns an object of n bytes.
func object(n int) []byte { return slices.Concat(marker, make([]byte, n-len(marker))) }

// record returns a record of an object of n bytes under the topic "a".
func record(t testing.TB, n int) []byte {
	t.Helper()
	b, err := beef.AppendRecord(nil, []string{"a"}, object(n))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// framed returns a payload pre-framed under the topic "a".
func framed(payload []byte) []byte {
	f := beef.Frame{Payload: payload}
	f.ContentID, f.TopicID = beef.ContentID(payload), beef.TopicIDOf("a")
	return beef.AppendFrame(nil, &f)
}

// TestScannerBounds has the bound on an object, twice the bound, and one more
// of each, as record and pre-framed.
func TestScannerBounds(t *testing.T) {
	const bound = 1000
	cfg := beef.ScannerConfig{MaxObject: bound}
	last := record(t, 10)
	for _, tt := range []struct {
		name string
		in   []byte
		want string
	}{
		{"record at the bound", record(t, bound), "record"},
		{"record over the bound", record(t, bound+1), "rejected oversize @6"},
		{"record at twice the bound", record(t, 2*bound), "rejected oversize @6"},
		{"record over twice the bound", record(t, 2*bound+1), "malformed oversize @6"},
		{"object at the bound", framed(object(bound)), "frame"},
		{"object over the bound", framed(object(bound + 1)), "rejected oversize @92"},
		{"payload at the bound", framed(object(bound + 983)), "rejected oversize @92"},
		{"payload over the bound", framed(object(bound + 984)), "rejected oversize @88"},
		{"payload at twice the bound", framed(object(2*bound + 983)), "rejected oversize @88"},
		{"payload over twice the bound", framed(object(2*bound + 984)), "malformed oversize @88"},
		{"framed record at the bound", framed(record(t, bound)), "frame"},
		{"framed record over the bound", framed(record(t, bound+1)), "rejected oversize @98"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			next, end := last, "record of 20 bytes"
			if tt.in[0] != last[0] {
				next, end = framed(last), "frame of 20 bytes"
			}
			want := []string{tt.want, end, "clean"}
			if tt.want[0] == 'm' {
				want = want[:1]
			}
			wantEvents(t, scanBothWays(t, cfg, slices.Concat(tt.in, next)), want...)
		})
	}
}

// TestScannerSkipsWithoutMemory checks that a rejected object is not kept, and
// that a cut one is told.
func TestScannerSkipsWithoutMemory(t *testing.T) {
	s, err := beef.NewScanner(beef.ScannerConfig{MaxObject: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	big := record(t, 1<<20+1)
	feed := func(b []byte) (errs []error) {
		for len(b) > 0 {
			b = b[s.Feed(b):]
			for {
				_, err := s.Next()
				if err == beef.ErrShort {
					break
				}
				errs = append(errs, err)
			}
			if s.WindowSize() > 16<<10 {
				t.Fatalf("holds %d bytes", s.WindowSize())
			}
		}
		return errs
	}
	errs := feed(big[:len(big)-1])
	if len(errs) != 1 || !errors.Is(errs[0], beef.ErrRejected) {
		t.Fatalf("errors %v", errs)
	}
	wantFault(t, s.End(), beef.ErrShort, beef.ReasonTruncated, 0)
	if errs := feed(big[len(big)-1:]); len(errs) != 0 || s.End() != nil {
		t.Errorf("errors %v, then %v", errs, s.End())
	}
}

// TestScannerMemory checks that memory follows the bytes that came, not the
// length announced, and goes back after a large object.
func TestScannerMemory(t *testing.T) {
	s, err := beef.NewScanner(beef.ScannerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	in := record(t, 3<<20)
	fed := 0
	for fed < len(in) {
		fed += s.Feed(in[fed:min(fed+1000, len(in))])
		if _, err := s.Next(); fed < len(in) && err != beef.ErrShort {
			t.Fatal(err)
		}
		if held := s.WindowSize(); held > max(2*fed, 16<<10) || held > len(in) {
			t.Fatalf("holds %d bytes after %d", held, fed)
		}
	}
	s.Space()
	if held := s.WindowSize(); held > 16<<10 {
		t.Errorf("holds %d bytes between two objects", held)
	}
}

// TestScannerCheapForStrangers bounds what a connection costs that claims much
// and sends little.
func TestScannerCheapForStrangers(t *testing.T) {
	head := func(length uint32) []byte {
		b := binary.BigEndian.AppendUint32([]byte{0xBE, 0xEF, 1, 1, 1, 'a'}, length)
		return append(b, marker...)
	}
	const attempts = 1000
	for _, in := range [][]byte{head(16 << 20), head(32 << 20), head(1<<32 - 1), {0xBE}, []byte("GET / HTTP/1.1\r\n")} {
		t.Run(fmt.Sprintf("%x", in), func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range attempts {
				s, err := beef.NewScanner(beef.ScannerConfig{})
				if err != nil {
					t.Fatal(err)
				}
				s.Feed(in)
				if _, err := s.Next(); err == nil {
					t.Fatal("taken")
				}
				if s.End() == nil {
					t.Fatal("a clean end")
				}
			}
			runtime.ReadMemStats(&after)
			if each := (after.TotalAlloc - before.TotalAlloc) / attempts; each > 20<<10 {
				t.Errorf("%d bytes an attempt", each)
			}
		})
	}
}

// TestScannerPipelines takes many small records, so that the window wraps in
// every position, and checks that the views are right until the next bytes.
func TestScannerPipelines(t *testing.T) {
	var in []byte
	var sizes []int
	for i := range 2000 {
		n := 4 + i*37%300
		sizes = append(sizes, n)
		in = append(in, record(t, n)...)
	}
	for _, step := range []int{1, 333, 16 << 10, len(in)} {
		s, err := beef.NewScanner(beef.ScannerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for rest := in; len(rest) > 0; {
			rest = rest[s.Feed(rest[:min(step, len(rest))]):]
			for {
				sub, err := s.Next()
				if err == beef.ErrShort {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if id := beef.ContentID(sub.Payload.Record.Bytes()); id != sub.Frame.ContentID {
					t.Fatal("the view is of other bytes")
				}
				got = append(got, len(sub.Payload.Object))
			}
		}
		if !slices.Equal(got, sizes) || s.End() != nil || s.Grammar() != beef.GrammarRecord {
			t.Errorf("steps of %d: %d objects, %v", step, len(got), s.End())
		}
	}
}

func TestScannerEndTooEarly(t *testing.T) {
	s, err := beef.NewScanner(beef.ScannerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	s.Feed(record(t, 4))
	if err := s.End(); err == nil {
		t.Error("End passes over a submission")
	}
	if n := s.Feed(nil); n != 0 {
		t.Errorf("%d bytes of none", n)
	}
}

func TestBoundsAreChecked(t *testing.T) {
	for _, n := range []int{-1, 3, 1<<30 + 1} {
		if _, err := beef.NewScanner(beef.ScannerConfig{MaxObject: n}); err == nil {
			t.Errorf("NewScanner takes %d", n)
		}
		if _, err := beef.NewDeliveryScanner(n); err == nil {
			t.Errorf("NewDeliveryScanner takes %d", n)
		}
		if _, err := beef.ParseSubmission(nil, n); err == nil || errors.Is(err, beef.ErrShort) {
			t.Errorf("ParseSubmission takes %d: %v", n, err)
		}
		if _, err := beef.NewReassembler(beef.ReassemblerConfig{MaxObject: n}); err == nil {
			t.Errorf("NewReassembler takes %d", n)
		}
	}
	for _, cfg := range []beef.ReassemblerConfig{{Slots: -1}, {Bytes: -1}, {Age: -1}} {
		if _, err := beef.NewReassembler(cfg); err == nil {
			t.Errorf("NewReassembler takes %+v", cfg)
		}
	}
}

// TestDeliveryBounds has the longest payload and one byte more.
func TestDeliveryBounds(t *testing.T) {
	const bound = 1000
	longest, err := beef.AppendRecord(nil, names(15, 64), object(bound))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		payload []byte
		want    error
		reason  string
	}{
		{longest, nil, ""},
		{object(bound), nil, ""},
		{object(bound + 1), beef.ErrRejected, beef.ReasonOversize},
		{object(bound + 984), beef.ErrMalformed, beef.ReasonOversize},
	} {
		s, err := beef.NewDeliveryScanner(bound)
		if err != nil {
			t.Fatal(err)
		}
		s.Feed(beef.AppendDelivery(nil, &beef.Delivery{Payload: tt.payload}))
		d, err := s.Next()
		if tt.want == nil {
			if err != nil || len(d.Payload) != len(tt.payload) {
				t.Errorf("%d bytes: %v", len(tt.payload), err)
			}
			continue
		}
		wantFault(t, err, tt.want, tt.reason, -1)
	}
}
