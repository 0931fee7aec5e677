package tree_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"treecast/tree"
)

func key(n int) (k [32]byte) {
	binary.BigEndian.PutUint64(k[:], uint64(n))
	return k
}

// TestWindowAgainstList compares with a list of which the oldest goes first.
func TestWindowAgainstList(t *testing.T) {
	type entry struct{ key, content int }
	rapid.Check(t, func(t *rapid.T) {
		const most = 8
		w, model := tree.NewWindow(most), []entry{}
		print := func(e entry) uint64 { return uint64(100*e.key + e.content) }
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				e := entry{rapid.IntRange(0, 20).Draw(t, "key"), rapid.IntRange(0, 2).Draw(t, "content")}
				sig := [65]byte{byte(e.key), byte(e.content)}
				got := w.Take(key(e.key), key(e.content), print(e), &sig)
				i := slices.IndexFunc(model, func(m entry) bool { return m.key == e.key })
				want := tree.CountDelivered
				switch {
				case i < 0:
					model = append(model, e)
					model = model[max(0, len(model)-most):]
				case model[i] == e:
					want = tree.CountDuplicate
				default:
					want = tree.CountEquivocation
				}
				if got != want {
					t.Fatalf("take %v: %v, want %v", e, got, want)
				}
			},
			"": func(t *rapid.T) {
				for k := range 21 {
					for content := range 3 {
						e := entry{k, content}
						in := slices.Contains(model, e)
						if w.Has(print(e)) != in {
							t.Fatalf("has %v: %v", e, !in)
						}
						if in && w.Signature(key(k)) != ([65]byte{byte(k), byte(content)}) {
							t.Fatalf("signature of %v", e)
						}
					}
				}
			},
		})
	})
	if tree.NewWindow(1).Signature(key(1)) != [65]byte{} {
		t.Error("a signature of nothing")
	}
}
