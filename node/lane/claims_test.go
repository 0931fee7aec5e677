package lane

import (
	"testing"
	"time"
)

func TestClaims(t *testing.T) {
	now := time.Unix(0, 0)
	c := newClaims(2, time.Minute)
	a, b, d := pair{1}, pair{2}, pair{3}
	for _, step := range []struct {
		what string
		got  bool
		want bool
	}{
		{"first", c.claim(now, a, 1), true},
		{"pending", c.claim(now, a, 1), false},
		{"higher while pending", c.claim(now, a, 2), true},
		{"other", c.claim(now, b, 1), true},
	} {
		if step.got != step.want {
			t.Errorf("%s: %v", step.what, step.got)
		}
	}
	c.settle(now, a, 2, true)
	c.settle(now, b, 1, false)
	if c.claim(now, a, 2) || c.claim(now, a, 1) || !c.claim(now, a, 3) {
		t.Error("a was published under 2")
	}
	c.settle(now, a, 3, false)
	if !c.claim(now, a, 3) {
		t.Error("3 failed, so it may come again")
	}
	if !c.claim(now, b, 1) {
		t.Error("b failed, so it may come again")
	}
	if !c.claim(now, d, 1) || c.held.len() != 2 {
		t.Errorf("the window holds %d, want 2", c.held.len())
	}
	c.settle(now, a, 3, true) // pushed out by d, and comes back in
	if c.claim(now, a, 3) {
		t.Error("a was published under 3")
	}
	if now = now.Add(time.Minute + 1); !c.claim(now, a, 1) {
		t.Error("a is remembered for longer than a minute")
	}
	off := newClaims(-1, time.Minute)
	for range 2 {
		if !off.claim(now, a, 1) {
			t.Error("a window that is off keeps out")
		}
	}
	off.settle(now, a, 1, true)
}
