package beef_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"treecast/wire/beef"
)

// fragments returns those of the n-th object: total of them, 10 bytes each.
func fragments(t testing.TB, n, total int) []beef.Fragment {
	t.Helper()
	payload := slices.Concat(marker, binary.BigEndian.AppendUint32(nil, uint32(n)), make([]byte, 10*total-8))
	f := beef.Frame{Payload: payload}
	f.ContentID, f.TopicID, f.DeliverCount = beef.ContentID(payload), beef.TopicIDOf("a"), 1
	seq, err := beef.Split(&f, 10)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(seq)
}

// desk is a Reassembler under test.
type desk struct {
	*beef.Reassembler
	t   testing.TB
	now time.Time
}

func newDesk(t testing.TB, cfg beef.ReassemblerConfig) *desk {
	t.Helper()
	r, err := beef.NewReassembler(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{r, t, start}
}

func (d *desk) add(want beef.Outcome, frags ...beef.Fragment) (frame beef.Frame) {
	d.t.Helper()
	for i := range frags {
		var got beef.Outcome
		if frame, got = d.Add(d.now, &frags[i]); got != want {
			d.t.Errorf("fragment %d: %v, want %v", frags[i].Index, got, want)
		}
		if (got == beef.OutcomeComplete) != (frame.Payload != nil) {
			d.t.Errorf("%v with a payload of %d bytes", got, len(frame.Payload))
		}
		beef.CheckReassembler(d.t, d.Reassembler)
	}
	return frame
}

func (d *desk) count(o beef.Outcome, want uint64) {
	d.t.Helper()
	if got := d.Count(o); got != want {
		d.t.Errorf("%v counted %d times, want %d", o, got, want)
	}
}

func TestReassemblerSlots(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{Slots: 3})
	for n := range 4 {
		d.add(beef.OutcomeHeld, fragments(t, n, 3)[0])
		if n == 2 {
			// Object 0 moves on, so that 1 is now the oldest.
			d.add(beef.OutcomeHeld, fragments(t, 0, 3)[1])
			d.add(beef.OutcomeDuplicate, fragments(t, 1, 3)[0])
		}
	}
	d.count(beef.OutcomeSlots, 1)
	d.add(beef.OutcomeComplete, fragments(t, 0, 3)[2])
	d.add(beef.OutcomeHeld, fragments(t, 1, 3)[1:]...)
	d.count(beef.OutcomeSlots, 1)
	if d.Slots() != 3 {
		t.Errorf("%d slots", d.Slots())
	}
}

func TestReassemblerBytes(t *testing.T) {
	// Three objects of 30 bytes are charged 30 each from their first fragment.
	d := newDesk(t, beef.ReassemblerConfig{Bytes: 90})
	for n := range 3 {
		d.add(beef.OutcomeHeld, fragments(t, n, 3)[0])
	}
	d.count(beef.OutcomeBytes, 0)
	d.add(beef.OutcomeHeld, fragments(t, 3, 3)[0])
	d.count(beef.OutcomeBytes, 1)
	if d.Bytes() != 90 {
		t.Errorf("%d bytes", d.Bytes())
	}
	d.add(beef.OutcomeBytes, fragments(t, 4, 10)[0]) // 100 bytes fit nowhere
	if d.Slots() != 0 || d.Bytes() != 0 {
		t.Errorf("%d slots of %d bytes", d.Slots(), d.Bytes())
	}
}

// TestReassemblerChargesWhatCame checks that a fragment which claims a large
// payload does not make room for all of it.
func TestReassemblerChargesWhatCame(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{})
	const size = 16 << 20
	f := beef.Frame{Payload: object(size)}
	f.ContentID = beef.ContentID(f.Payload)
	seq, err := beef.Split(&f, 0)
	if err != nil {
		t.Fatal(err)
	}
	frags := slices.Collect(seq)
	d.add(beef.OutcomeHeld, frags[len(frags)-1])
	if d.Bytes() > 8<<10 {
		t.Errorf("%d bytes for the last fragment", d.Bytes())
	}
	d.add(beef.OutcomeHeld, frags[0])
	if d.Bytes() > 80<<10 {
		t.Errorf("%d bytes for two fragments", d.Bytes())
	}
	for i := 1; i < len(frags)-1; i++ {
		_, outcome := d.Add(d.now, &frags[i])
		if last := i == len(frags)-2; last != (outcome == beef.OutcomeComplete) {
			t.Fatalf("fragment %d: %v", i, outcome)
		}
		if came := int64(i+2) * beef.MaxFragmentData; d.Bytes() > 2*came+64<<10 {
			t.Fatalf("%d bytes held, %d came", d.Bytes(), came)
		}
	}
}

func TestReassemblerAge(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{})
	if !d.Deadline().IsZero() {
		t.Error("a deadline without a slot")
	}
	a, b := fragments(t, 0, 3), fragments(t, 1, 3)
	d.add(beef.OutcomeHeld, a[0], b[0])
	d.now = start.Add(20 * time.Second)
	d.add(beef.OutcomeHeld, a[1])
	d.add(beef.OutcomeDuplicate, b[0]) // no new fragment, no new age
	if want := start.Add(30 * time.Second); !d.Deadline().Equal(want) {
		t.Errorf("deadline %v, want %v", d.Deadline(), want)
	}
	d.Expire(start.Add(30*time.Second - 1))
	d.count(beef.OutcomeAge, 0)
	d.Expire(start.Add(30 * time.Second))
	d.count(beef.OutcomeAge, 1)
	d.now = start.Add(49 * time.Second)
	d.add(beef.OutcomeComplete, a[2])
	d.add(beef.OutcomeLate, a...)
	d.now = start.Add(79 * time.Second) // 30 s later nothing is known of it
	d.add(beef.OutcomeHeld, a[0])
}

func TestReassemblerOrder(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{})
	frags := fragments(t, 0, 5)
	d.add(beef.OutcomeHeld, frags[3], frags[1])
	d.add(beef.OutcomeDuplicate, frags[3])
	d.add(beef.OutcomeHeld, frags[0], frags[4])
	d.add(beef.OutcomeDuplicate, frags[1], frags[0])
	frame := d.add(beef.OutcomeComplete, frags[2])
	if frame.SeqNum != 3 || beef.ContentID(frame.Payload) != frags[0].ContentID {
		t.Errorf("SeqNum %d", frame.SeqNum)
	}
}

// TestReassemblerCopies checks that neither side shares memory with the other.
func TestReassemblerCopies(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{})
	frags := fragments(t, 0, 3)
	for _, i := range []int{2, 0} {
		lent := frags[i]
		lent.Data = bytes.Clone(lent.Data)
		d.add(beef.OutcomeHeld, lent)
		clear(lent.Data)
	}
	d.add(beef.OutcomeComplete, frags[1])
}

func TestReassemblerHash(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{})
	frags := fragments(t, 0, 3)
	bad := frags[1]
	bad.Data = bytes.Clone(bad.Data)
	bad.Data[0] ^= 1
	d.add(beef.OutcomeHeld, frags[0], bad)
	d.add(beef.OutcomeHash, frags[2])
	d.add(beef.OutcomeHeld, frags[0], frags[1]) // it may come right again
	d.add(beef.OutcomeComplete, frags[2])
}

func TestReassemblerWants(t *testing.T) {
	asked, wanted := 0, false
	d := newDesk(t, beef.ReassemblerConfig{Wants: func(f *beef.Fragment) bool {
		asked++
		if f.Index != 0 {
			t.Errorf("asked about fragment %d", f.Index)
		}
		return wanted || f.DeliverCount > 1
	}})
	frags := fragments(t, 0, 4)
	d.add(beef.OutcomeHeld, frags[2])
	d.add(beef.OutcomeUnwanted, frags[0], frags[1], frags[2], frags[0])
	if asked != 1 || d.Bytes() != 0 || d.Slots() != 0 {
		t.Errorf("asked %d times, %d bytes in %d slots", asked, d.Bytes(), d.Slots())
	}

	// A higher DeliverCount makes it another question, once.
	for i := range frags {
		frags[i].DeliverCount = 2
	}
	d.add(beef.OutcomeHeld, frags[1], frags[0], frags[2])
	if frame := d.add(beef.OutcomeComplete, frags[3]); frame.DeliverCount != 2 || asked != 2 {
		t.Errorf("DeliverCount %d, asked %d times", frame.DeliverCount, asked)
	}
	d.add(beef.OutcomeLate, frags[0])
	wanted = true
	frags[0].DeliverCount = 1
	d.add(beef.OutcomeLate, frags[0])
}

// TestReassemblerTwoIngresses has one object from two senders, whose fragments
// help each other out, with the higher DeliverCount.
func TestReassemblerTwoIngresses(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{})
	a, b := fragments(t, 0, 4), fragments(t, 0, 4)
	for i := range b {
		b[i].HashKey, b[i].SeqNum, b[i].DeliverCount = 9, 500+b[i].SeqNum, 3
	}
	d.add(beef.OutcomeHeld, a[0], b[1])
	d.add(beef.OutcomeDuplicate, b[0])
	d.add(beef.OutcomeHeld, a[2])
	frame := d.add(beef.OutcomeComplete, b[3])
	if frame.HashKey != 0 || frame.SeqNum != 0 || frame.DeliverCount != 3 {
		t.Errorf("header %+v", frame.Header)
	}
	d.add(beef.OutcomeLate, a[3], b[2])
}

func TestReassemblerRefuses(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{MaxObject: 100})
	over := fragments(t, 0, 200)[0]
	over.OrigLen, over.Total = 100+beef.MaxEnvelope+1, 109
	d.add(beef.OutcomeOverBound, over)
	at := over
	at.OrigLen--
	d.add(beef.OutcomeHeld, at)
	d.add(beef.OutcomeUneven, beef.Fragment{}, beef.Fragment{Total: 1, OrigLen: 1})
	other := at
	other.Index, other.Total, other.OrigLen = 1, 110, 1100
	d.count(beef.OutcomeDisagrees, 0)
	other.OrigLen, other.Data = at.OrigLen-1, at.Data
	other.Total = at.Total
	d.add(beef.OutcomeDisagrees, other)
	if d.Slots() != 1 {
		t.Errorf("%d slots", d.Slots())
	}
}

func TestOutcomeNames(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range beef.Outcomes() {
		if o.String() == "" || o.String() == "unknown" || seen[o.String()] {
			t.Errorf("outcome %d is called %q", o, o)
		}
		seen[o.String()] = true
	}
	if beef.Outcome(200).String() != "unknown" {
		t.Error("an outcome that is none has a name")
	}
	if newDesk(t, beef.ReassemblerConfig{}).Count(200) != 0 {
		t.Error("an outcome that is none was counted")
	}
}
