package main

import (
	"testing"

	"treecast/wire/soc"
)

// The two checks that a relay's is held against are what they are called: against a
// known key in a batch, and by recovery.
func TestCheckBatch(t *testing.T) {
	for _, known := range []bool{true, false} {
		b, err := newCheckBatch(soc.BatchSize, known)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := b.verify(); err != nil {
				t.Errorf("known %v: %v", known, err)
			}
		}
		for i := range b.checks {
			if b.checks[i].Recovered() == known {
				t.Errorf("known %v: chunk %d: recovered %v", known, i, b.checks[i].Recovered())
			}
		}
		b.chunks[3].Payload[0]++
		if err := b.verify(); err == nil {
			t.Errorf("known %v: a changed payload is valid", known)
		}
	}
}
