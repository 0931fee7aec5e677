package node

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/wire"
)

// TestAnswersAtATime has many strangers ask: parents and children find a place all
// the same, up to the bound, and whoever ends makes room for another of its kind.
func TestAnswersAtATime(t *testing.T) {
	var x answers
	key := func(i int) answerKey { return answerKey{peer.ID([]byte{byte(i)}), wire.Topic{}} }
	for i := range maxStrangers {
		if !x.begin(key(i), true) {
			t.Fatalf("stranger %d refused", i)
		}
	}
	if x.begin(key(100), true) {
		t.Error("one stranger more")
	}
	for i := maxStrangers; i < maxAnswers; i++ {
		if !x.begin(key(i), false) {
			t.Fatalf("request %d refused", i)
		}
	}
	if x.begin(key(100), false) {
		t.Error("one request more")
	}
	x.end(key(maxStrangers))
	if x.begin(key(100), true) || !x.begin(key(100), false) {
		t.Error("the place of a child is no stranger's")
	}
	x.end(key(0))
	if !x.begin(key(101), true) || x.begin(key(101), true) {
		t.Error("the place of a stranger is another's, once")
	}
}
