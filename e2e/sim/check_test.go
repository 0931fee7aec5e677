package sim

import (
	"strings"
	"testing"
	"time"

	"treecast/tree"
)

// TestChecksSee plants what the checks are there for, as a check that never
// speaks proves nothing.
func TestChecksSee(t *testing.T) {
	edges := [][2]int32{{1, 0}, {2, 0}, {3, 1}, {3, 2}}
	for _, c := range []struct {
		name, want string
		plant      func(w *world)
	}{
		{"rank", "parent 1 of band 5 is not below its child 3 of band 2", func(w *world) {
			w.nodes[1].band, w.nodes[3].band = 5, 2
			w.checkRank(1, 3)
		}},
		{"slots", "node 1 has 5 children in 3 slots, 0 of them moving", func(w *world) {
			w.nodes[1].children, w.nodes[1].capacity = 5, 3
			w.checkSlots(1)
		}},
		{"parent twice", "node 3 has parent 1 twice", func(w *world) {
			w.answer = w.nodes[3].parents[0].slot
			w.report(3, &tree.Report{Kind: tree.ReportAttached, Peer: w.overlay(1)})
		}},
		{"forged", "node 3 was delivered a forged chunk", func(w *world) {
			w.publish()
			at := w.newFrame(nil)
			w.frames[at].forged = true
			w.delivered(3, &tree.Action{HasIndex: true, Chunk: tree.ChunkID(at)})
		}},
		{"from nowhere", "node 3 was delivered a chunk that nobody published", func(w *world) {
			w.delivered(3, &tree.Action{HasIndex: true, Index: 7})
		}},
		{"held", "1 chunks are still held at rest", func(w *world) {
			w.held = 1
			w.idle()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := drawn(t, 3, edges)
			c.plant(w)
			if got := strings.Join(w.stats.words, "\n"); !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if w.stats.violations == 0 {
				t.Error("not counted")
			}
		})
	}
}

// TestChunksCounted publishes into nodes that never pass anything on: who is
// delivered one twice, late or never is seen.
func TestChunksCounted(t *testing.T) {
	w := drawn(t, 3, [][2]int32{{1, 0}, {2, 0}, {3, 1}, {3, 2}})
	w.publish()
	at := w.newFrame(nil)
	deliver := func(i int32) { w.delivered(i, &tree.Action{HasIndex: true, Chunk: tree.ChunkID(at)}) }
	deliver(1)
	deliver(1)
	w.now += int64(LateAfter) + 1
	deliver(2)
	w.closeChunks()
	if w.stats.surfaced != 1 || w.stats.late != 1 || w.stats.missing != 1 || w.nodes[3].missing != 1 {
		t.Errorf("%d surfaced twice, %d late, %d missing, want one each", w.stats.surfaced, w.stats.late, w.stats.missing)
	}
}

// TestBlame blocks a child at its eighth forged chunk in a minute, and no sooner.
func TestBlame(t *testing.T) {
	w := drawn(t, 2, [][2]int32{{1, 0}})
	for k := range 20 {
		w.blame(0, 1)
		w.now += int64(10 * time.Second)
		if w.barred(0, 1) {
			t.Fatalf("blocked at %d in twenty seconds each", k+1)
		}
	}
	for range 7 {
		w.blame(0, 1)
	}
	if !w.barred(1, 0) || w.barred(0, 2) {
		t.Error("not blocked in both directions, or somebody else is")
	}
	if w.now += blockFor + 1; w.barred(0, 1) {
		t.Error("blocked for good")
	}
}
