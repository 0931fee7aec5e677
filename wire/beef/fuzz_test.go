package beef_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"treecast/wire/beef"
)

// fuzzBound keeps the objects of the fuzz targets small enough that the bounds
// are reached.
const fuzzBound = 64

// maxSteps is the longest script for the Reassembler.
const maxSteps = 64

// Lengths in bytes. Time goes into minimising what was found, and grows with the
// square of the length: short inputs make many executions.
const (
	maxSeed  = 160
	maxInput = 512
)

// checkError checks what is true of every error of a decoder for an input of n
// bytes.
func checkError(t *testing.T, err error, n int) {
	t.Helper()
	var f *beef.FaultError
	if !errors.As(err, &f) {
		t.Fatalf("%v is no FaultError", err)
	}
	if f.Offset < 0 || f.Offset > n {
		t.Errorf("offset %d of %d bytes", f.Offset, n)
	}
	if !slices.Contains(beef.Reasons(), f.Reason) {
		t.Errorf("reason %q", f.Reason)
	}
	if f.Err != beef.ErrShort && f.Err != beef.ErrMalformed && f.Err != beef.ErrRejected {
		t.Errorf("sentinel %v", f.Err)
	}
}

// event is what came out of a scanner, without the words of the other tests:
// formatting would be most of an execution.
type event struct {
	err    error
	reason string
	offset int
	size   int
}

// drain feeds b to a scanner, step bytes at a time, and returns what came out.
func drain(b []byte, step int, feed func([]byte) int, next func() (int, error), end func() error) (out []event) {
	note := func(size int, err error) {
		e := event{size: size}
		var f *beef.FaultError
		if errors.As(err, &f) {
			e.err, e.reason, e.offset = f.Err, f.Reason, f.Offset
		}
		out = append(out, e)
	}
	for len(b) > 0 {
		b = b[feed(b[:min(step, len(b))]):]
		for {
			size, err := next()
			if err == beef.ErrShort {
				break
			}
			note(size, err)
			if errors.Is(err, beef.ErrMalformed) {
				return out
			}
		}
	}
	note(0, end())
	return out
}

func FuzzRecord(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b) }, recordSeeds(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxInput {
			return
		}
		rec, err := beef.ParseRecord(b)
		if err != nil {
			checkError(t, err, len(b))
			return
		}
		var topics []string
		for name := range rec.Topics() {
			topics = append(topics, string(name))
		}
		again, err := beef.AppendRecord(nil, topics, rec.Object)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("the record does not encode to itself: %v", err)
		}
	})
}

func FuzzFrame(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b) }, frameSeeds(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxInput {
			return
		}
		if _, err := beef.ParseSubmission(b, fuzzBound); err != nil {
			checkError(t, err, len(b))
		}
		frame, err := beef.ParseFrame(b)
		if err != nil {
			checkError(t, err, len(b))
			return
		}
		if !bytes.Equal(beef.AppendFrame(nil, &frame), b) {
			t.Error("the frame does not encode to itself")
		}
		offer, err := beef.OfferOf(&frame)
		if err != nil {
			checkError(t, err, len(frame.Payload))
		}
		all := beef.Election{}
		if topic, ok := all.Match(frame.TopicID, frame.DeliverCount, frame.Payload); ok != (err == nil) ||
			ok && topic != offer.Topics()[0] {
			t.Errorf("an aggregator gets it: %v, offer %v", ok, err)
		}
	})
}

func FuzzFragment(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b) }, fragmentSeeds(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxInput {
			return
		}
		frag, err := beef.ParseFragment(b)
		if err != nil {
			checkError(t, err, len(b))
			return
		}
		if !bytes.Equal(beef.AppendFragment(nil, &frag), b) {
			t.Error("the fragment does not encode to itself")
		}
		if frag.Index >= frag.Total || len(frag.Data) == 0 || uint64(len(frag.Data)) > uint64(frag.OrigLen) {
			t.Errorf("fragment %d of %d, %d of %d bytes", frag.Index, frag.Total, len(frag.Data), frag.OrigLen)
		}
		beef.OfferOfFragment(&frag)
	})
}

func FuzzDelivery(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b, uint8(1)) }, deliverySeeds(f))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		d, err := beef.ParseDelivery(b)
		if err != nil {
			checkError(t, err, len(b))
		} else if !bytes.Equal(beef.AppendDelivery(nil, &d), b) {
			t.Error("the record does not encode to itself")
		}
		if len(b) > maxInput {
			return
		}
		run := func(step int) []event {
			s, err := beef.NewDeliveryScanner(fuzzBound)
			if err != nil {
				t.Fatal(err)
			}
			next := func() (int, error) {
				d, err := s.Next()
				return len(d.Payload), err
			}
			return drain(b, step, s.Feed, next, s.End)
		}
		if once, cut := run(len(b)), run(int(step)+1); !slices.Equal(once, cut) {
			t.Errorf("in one write %v, in pieces of %d %v", once, step+1, cut)
		}
	})
}

func FuzzScanner(f *testing.F) {
	seed(f, func(b []byte) { f.Add(b, uint8(1), false) }, recordSeeds(f), frameSeeds(f))
	for i := range theVectors(f).Streams.Items {
		f.Add([]byte(theVectors(f).Streams.Items[i].Hex), uint8(0), false)
	}
	f.Add(slices.Concat(record(f, fuzzBound+1), record(f, 4)), uint8(100), true)
	f.Add(slices.Concat(framed(object(fuzzBound+1)), framed(object(4))), uint8(100), false)
	f.Fuzz(func(t *testing.T, b []byte, step uint8, recordsOnly bool) {
		if len(b) > maxInput {
			return
		}
		cfg := beef.ScannerConfig{MaxObject: fuzzBound, RecordsOnly: recordsOnly}
		run := func(step int) []event {
			s, err := beef.NewScanner(cfg)
			if err != nil {
				t.Fatal(err)
			}
			next := func() (int, error) {
				sub, err := s.Next()
				if err == nil && beef.ContentID(sub.Frame.Payload) != sub.Frame.ContentID {
					t.Error("ContentID is not the payload's")
				}
				return len(sub.Frame.Payload), err
			}
			return drain(b, step, s.Feed, next, s.End)
		}
		if once, cut := run(len(b)), run(int(step)+1); !slices.Equal(once, cut) {
			t.Errorf("in one write %v, in pieces of %d %v", once, step+1, cut)
		}
	})
}

// FuzzReassembler reads its input as a script over the fragments of a few
// objects: which one, what is wrong with it, and how much time passes.
func FuzzReassembler(f *testing.F) {
	var all []beef.Fragment
	for n := range 6 {
		all = append(all, fragments(f, n, 2+n)...)
	}
	f.Add([]byte{0, 0, 1, 0, 2, 0, 3, 0, 4, 0})
	f.Add([]byte{0, 1, 0, 2, 0, 4, 1, 8, 1, 16, 0, 32, 1, 64, 9, 128})
	f.Add(bytes.Repeat([]byte{13, 0, 7, 1, 20, 3}, 20))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 2*maxSteps {
			return
		}
		wanted := true
		r, err := beef.NewReassembler(beef.ReassemblerConfig{
			Slots: 3, Bytes: 100, Age: 3 * time.Second, MaxObject: 64,
			Wants: func(*beef.Fragment) bool { return wanted },
		})
		if err != nil {
			t.Fatal(err)
		}
		now, total := start, uint64(0)
		for len(script) >= 2 {
			frag, how := all[int(script[0])%len(all)], script[1]
			script = script[2:]
			frag.DeliverCount += how & 1
			if how&2 != 0 {
				frag.TopicID[0] ^= 1
			}
			if how&4 != 0 {
				frag.OrigLen += uint32(how)
			}
			if how&8 != 0 {
				frag.Total++
			}
			if how&16 != 0 {
				frag.Data = bytes.Repeat([]byte{how}, len(frag.Data))
			}
			if how&32 != 0 {
				now = now.Add(time.Second)
			}
			wanted = how&64 == 0
			if how&128 != 0 {
				frag.Data = frag.Data[:int(how)%len(frag.Data)]
			}
			frame, outcome := r.Add(now, &frag)
			if done := outcome == beef.OutcomeComplete; done != (frame.Payload != nil) ||
				done && beef.ContentID(frame.Payload) != frame.ContentID {
				t.Fatalf("%v with a payload of %d bytes", outcome, len(frame.Payload))
			}
			beef.CheckReassembler(t, r)
			total++
		}
		counted := uint64(0)
		for _, o := range beef.Outcomes() {
			if o != beef.OutcomeAge && o != beef.OutcomeSlots && o != beef.OutcomeBytes {
				counted += r.Count(o)
			}
		}
		if counted > total || counted+r.Count(beef.OutcomeBytes) < total {
			t.Errorf("%d fragments, %d counted", total, counted)
		}
	})
}
