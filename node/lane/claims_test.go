package lane

import (
	"context"
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
	c.settle(now, a, 2, 9, true)
	c.settle(now, b, 1, 9, false)
	if c.claim(now, a, 2) || c.claim(now, a, 1) || !c.claim(now, a, 3) {
		t.Error("a was published under 2")
	}
	c.settle(now, a, 3, 9, false)
	if !c.claim(now, a, 3) {
		t.Error("3 failed, so it may come again")
	}
	if !c.claim(now, b, 1) {
		t.Error("b failed, so it may come again")
	}
	if !c.claim(now, d, 1) || c.held.len() != 2 {
		t.Errorf("the window holds %d, want 2", c.held.len())
	}
	c.settle(now, a, 3, 9, true) // pushed out by d, and comes back in
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
	off.settle(now, a, 1, 9, true)
}

// TestFirst: whoever comes second gets the number of the first, waiting for it.
func TestFirst(t *testing.T) {
	now := time.Now()
	c := newClaims(8, time.Minute)
	a := pair{1}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	type answer struct {
		seq uint64
		ok  bool
	}
	ask := func() chan answer {
		ch := make(chan answer, 1)
		go func() { // ends with the number, or the release
			seq, ok := c.first(ctx, a)
			ch <- answer{seq, ok}
		}()
		return ch
	}
	waits := func() {
		t.Helper()
		for {
			c.mu.Lock()
			waiting := c.moved != nil
			c.mu.Unlock()
			if waiting {
				return
			}
			if ctx.Err() != nil {
				t.Fatal("nobody waits")
			}
			time.Sleep(time.Millisecond)
		}
	}
	c.claim(now, a, 1)
	one := ask()
	waits()
	c.number(now, a, 7)
	if got := <-one; got != (answer{7, true}) {
		t.Errorf("after the number: %+v", got)
	}
	c.settle(now, a, 1, 7, false)
	if got := <-ask(); got != (answer{}) {
		t.Errorf("after it was lost: %+v", got)
	}
	c.claim(now, a, 1)
	two := ask()
	waits()
	c.settle(now, a, 1, 0, false)
	if got := <-two; got != (answer{}) {
		t.Errorf("lost while waiting: %+v", got)
	}
	c.claim(now, a, 1)
	c.number(now, a, 8)
	c.settle(now, a, 1, 8, true)
	c.claim(now, a, 2)
	c.number(now, a, 9)
	c.settle(now, a, 2, 9, true)
	if got := <-ask(); got != (answer{8, true}) {
		t.Errorf("published twice: %+v", got)
	}
	cancel()
	c.claim(now, pair{2}, 1)
	if _, ok := c.first(ctx, pair{2}); ok {
		t.Error("a number where there is none")
	}
}
