package lane

import "time"

// bucket is a token bucket that may go into debt. take always succeeds and says
// how long the caller has to stay away: a TCP door reads what the kernel hands it
// in one piece, so it knows the cost only after the fact; the debt is what it then
// leaves the socket unread for. A door that cannot hold anybody back asks wait
// before it takes. Holders serialise access.
type bucket struct {
	rate  float64 // tokens a second; 0 or less = no limit
	burst float64 // most tokens saved up: one second's worth
	have  float64 // negative = debt
	last  time.Time
}

func newBucket(rate float64) bucket { return bucket{rate: rate, burst: rate, have: rate} }

// take removes n tokens at now and returns how long to wait until the debt, if
// any, is paid back.
func (b *bucket) take(now time.Time, n float64) time.Duration {
	if b.rate <= 0 {
		return 0
	}
	b.refill(now)
	b.have -= n
	return b.debt()
}

// wait returns how long it takes until the bucket is out of debt; 0: it is.
func (b *bucket) wait(now time.Time) time.Duration {
	if b.rate <= 0 {
		return 0
	}
	b.refill(now)
	return b.debt()
}

func (b *bucket) debt() time.Duration {
	if b.have >= 0 {
		return 0
	}
	return time.Duration(-b.have / b.rate * float64(time.Second))
}

func (b *bucket) refill(now time.Time) {
	if !b.last.IsZero() {
		b.have = min(b.burst, b.have+now.Sub(b.last).Seconds()*b.rate)
	}
	b.last = now
}

// full reports that forgetting the bucket would change nothing.
func (b *bucket) full(now time.Time) bool {
	if b.rate <= 0 {
		return true
	}
	b.refill(now)
	return b.have >= b.burst
}
