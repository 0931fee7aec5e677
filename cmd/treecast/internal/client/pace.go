package client

import (
	"context"
	"fmt"
	"time"
)

// maxLate is how far behind its pace a sender may be and still make up for it.
const maxLate = time.Second

// pace spaces objects out to a rate.
type pace struct {
	gap  time.Duration // between objects; 0 = none
	next time.Time     // when the next object is due
}

// newPace makes a pace of rate objects a second; 0 = no pace.
func newPace(rate float64) pace {
	if rate <= 0 {
		return pace{}
	}
	return pace{gap: time.Duration(float64(time.Second) / rate)}
}

// wait holds back until the next object is due. Objects are due on a grid, so
// that a late one does not lower the rate; after a longer stop, the caller's or
// the ingress's, the grid begins anew.
func (p *pace) wait(ctx context.Context) error {
	if p.gap == 0 {
		return nil
	}
	now := time.Now()
	if now.Sub(p.next) > maxLate {
		p.next = now
	}
	if err := sleep(ctx, p.next.Sub(now)); err != nil {
		return err
	}
	p.next = p.next.Add(p.gap)
	return nil
}

// sleep waits for d; the error is the cause why ctx ended first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("client: %w", context.Cause(ctx))
	}
}

// sent counts what was sent.
type sent struct {
	objects int
	bytes   int64
}

func (s *sent) add(size int) {
	s.objects++
	s.bytes += int64(size)
}

// Sent returns how many objects were sent, and their bytes.
func (s *sent) Sent() (objects int, bytes int64) { return s.objects, s.bytes }
