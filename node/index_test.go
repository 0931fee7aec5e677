package node

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"treecast/wire"
)

// TestIndicesNeverTwice reserves at random, restarts at random, and hands no
// index out twice nor leaves a gap inside one run.
func TestIndicesNeverTwice(t *testing.T) {
	s, err := newStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	load := func(first uint64) *indices {
		x := s.indices(wire.Topic{1}, wire.Owner{2})
		if err := x.load(first); err != nil {
			t.Fatal(err)
		}
		return x
	}
	x := load(0)
	var next uint64 // the lowest index not handed out yet
	fresh := false
	for range 300 {
		if rng.IntN(10) == 0 {
			x, fresh = load(0), true
		}
		n := 1 + rng.IntN(2500)
		first, err := x.reserve(n)
		if err != nil {
			t.Fatal(err)
		}
		if first < next || !fresh && first != next || first-next >= indexBlock {
			t.Fatalf("%d indices from %d, after %d, restarted %v", n, first, next, fresh)
		}
		next, fresh = first+uint64(n), false
	}
	if x := load(next + 5000); x.next != next+5000 {
		t.Errorf("known heads are not skipped: %d", x.next)
	}
	if first, err := x.reserve(0); err == nil {
		t.Errorf("reserved nothing from %d", first)
	}
}

// TestIndexEnd refuses to go beyond the highest index.
func TestIndexEnd(t *testing.T) {
	x := &indices{}
	if err := x.load(maxIndex - 1); err != nil {
		t.Fatal(err)
	}
	if first, err := x.reserve(2); err != nil || first != maxIndex-1 {
		t.Errorf("the last two: %d, %v", first, err)
	}
	if first, err := x.reserve(1); err == nil {
		t.Errorf("after the last: %d", first)
	}
}

// TestIndexFileDamaged refuses to guess.
func TestIndexFileDamaged(t *testing.T) {
	s, err := newStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := s.indices(wire.Topic{1}, wire.Owner{2})
	if err := x.load(0); err != nil {
		t.Fatal(err)
	}
	if _, err := x.reserve(1); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(x.path)
	if err != nil || !bytes.Equal(good, appendBlock(nil, indexBlock)) {
		t.Fatalf("%x, %v", good, err)
	}
	for i := range len(good) {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		for _, data := range [][]byte{bad, good[:i]} {
			if err := os.WriteFile(x.path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := s.indices(wire.Topic{1}, wire.Owner{2}).load(0); err == nil {
				t.Errorf("%x was accepted", data)
			}
		}
	}
}
