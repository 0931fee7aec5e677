package probe_test

import (
	"testing"
	"time"

	"treecast/probe"
)

// silenced is a node with two children, the first of which left two probes
// unanswered. Each search so far had a budget for both.
func silenced(t *testing.T) *bench {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A"), child(2, "B")}
	b.want(b.begin(probe.Origin{Token: 1, Asker: childless}), "1 probe#1*2@1; 2 probe#2*2@1")
	b.want(b.found(2, 2, ""), "")
	b.want(b.tick(), "1s 1:")
	b.want(b.begin(probe.Origin{Token: 2, Asker: childless}), "1 probe#3*2@1; 2 probe#4*2@1")
	b.want(b.found(2, 4, ""), "")
	b.want(b.tick(), "1s 2:")
	return b
}

// A child that does not answer is passed over, so that walkers go where somebody is.
func TestSilentChild(t *testing.T) {
	b := silenced(t)
	b.want(b.begin(probe.Origin{Token: 3, Asker: childless}), "2 probe#5*4@1")
	b.want(b.found(2, 5, "P:1:2"), "3: P:1")
}

// It is asked again after a while, and passed over again at once.
func TestSilentChildAgain(t *testing.T) {
	b := silenced(t)
	b.now = b.now.Add(10 * time.Second)
	b.want(b.begin(probe.Origin{Token: 3, Asker: childless}), "1 probe#5*2@1; 2 probe#6*2@1")
	b.want(b.found(2, 6, ""), "")
	b.want(b.tick(), "1s 3:")
	b.want(b.begin(probe.Origin{Token: 4, Asker: childless}), "2 probe#7*4@1")
}

// An answer, however late, makes it one that answers.
func TestSilentChildAnswers(t *testing.T) {
	b := silenced(t)
	b.want(b.found(1, 3, "P:1:2"), "drop 4")
	b.want(b.begin(probe.Origin{Token: 3, Asker: childless}), "1 probe#5*2@1; 2 probe#6*2@1")
}

// Where no child answers, they are asked all the same.
func TestAllSilent(t *testing.T) {
	b := silenced(t)
	b.want(b.ended(2), "")
	b.want(b.begin(probe.Origin{Token: 3, Asker: childless}), "1 probe#5*4@1")
}

// What was not waited for to the end is no silence.
func TestGraceIsNoSilence(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A"), child(2, "B")}
	for token := probe.Token(1); token < 4; token++ {
		b.begin(probe.Origin{Token: token, Asker: childless})
		id := uint64(2*token - 1)
		b.found(2, id, "P:1:2 Q:1:2")
		b.found(2, id+1, "P:1:2 Q:1:2")
		b.now = b.now.Add(60 * time.Millisecond)
		b.s.Tick(b.now, b.down, nil)
	}
	if got := b.begin(probe.Origin{Token: 9, Asker: childless}); got != "1 probe#7*2@1; 2 probe#8*2@1" && got != "2 probe#7*2@1; 1 probe#8*2@1" {
		t.Errorf("asked %q", got)
	}
}
