package main

import "testing"

func TestPerUnit(t *testing.T) {
	few := holding{Units: 2, Heap: 1000, Stack: 500, Resident: 4000, Goroutines: 10}
	many := holding{Units: 12, Heap: 3000, Stack: 1500, Resident: 9000, Goroutines: 30}
	f, err := perUnit(few, many)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range (Figures{"heap_bytes": 200, "stack_bytes": 100, "resident_bytes": 500, "goroutines": 2}) {
		if f[name] != want {
			t.Errorf("%s = %v, want %v", name, f[name], want)
		}
	}
	if _, err := perUnit(many, many); err == nil {
		t.Error("a difference of no units")
	}
	r := memRow("m", "bare", f, Figures{"heap_bytes": 50, "goroutines": 1})
	if r.Treecast["own_heap_bytes"] != 150 || r.Treecast["own_goroutines"] != 1 || r.Ratio["heap"] != 4 {
		t.Errorf("row %+v", r)
	}
}

// What is held shows what is live, and not what was.
func TestHold(t *testing.T) {
	before := hold(0)
	block := make([]byte, 8<<20)
	for i := range block {
		block[i] = byte(i)
	}
	with := hold(len(block))
	if d := with.Heap - before.Heap; d < 7<<20 || d > 10<<20 {
		t.Errorf("%v bytes of a block of %d", d, len(block))
	}
	block[1] = block[0] // it lives until here
	after := hold(0)
	if d := after.Heap - before.Heap; d > 1<<20 {
		t.Errorf("%v bytes are left of a block that is gone", d)
	}
	if with.Units != 8<<20 || with.Goroutines < 1 {
		t.Errorf("holding %+v", with)
	}
}

// The pushed chunks have all arrived.
func TestPush(t *testing.T) {
	net, err := newTree(t.Context(), 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer net.close()
	before := net.copies()
	if err := push(t.Context(), net, 200); err != nil {
		t.Fatal(err)
	}
	if n := net.copies() - before; n < 400 {
		t.Errorf("%d copies of 200 chunks at two nodes", n)
	}
}
