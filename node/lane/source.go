package lane

import (
	"net/netip"
	"sync"
	"time"
)

// maxSources bounds the rate states a door keeps for sources that have gone.
const maxSources = 4096

// sources are the publishers of one door, told apart by address: an IPv6 one by
// its /64, which one host can have all of. A source's rates outlive its
// connections until they are paid back, so that connecting anew buys nothing.
type sources struct {
	objects, bytes float64 // rates of each, a second
	conns          int     // bound of each

	mu   sync.Mutex
	from map[netip.Prefix]*source
}

// source is one publisher's share of a door, used by all of its connections.
type source struct {
	conns int // under sources.mu

	mu      sync.Mutex
	objects bucket
	bytes   bucket
}

func newSources(l *IngressLimits) *sources {
	return &sources{
		objects: l.Objects, bytes: l.Bytes, conns: l.SourceConns,
		from: make(map[netip.Prefix]*source),
	}
}

func sourceOf(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits) // bits fits the address by construction
	return p
}

// enter counts a connection in; false when the source has as many as it may.
func (s *sources) enter(now time.Time, from netip.Prefix) (*source, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	src := s.find(from)
	if src.conns >= s.conns {
		return nil, false
	}
	src.conns++
	return src, true
}

// at returns a source that has no connections, as that of a datagram.
func (s *sources) at(from netip.Prefix) *source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(from)
}

// find returns the source, made if need be; called under mu.
func (s *sources) find(from netip.Prefix) *source {
	src, ok := s.from[from]
	if !ok {
		if len(s.from) >= maxSources {
			s.sweep()
		}
		src = &source{objects: newBucket(s.objects), bytes: newBucket(s.bytes)}
		s.from[from] = src
	}
	return src
}

// leave counts a connection out.
func (s *sources) leave(now time.Time, from netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	src := s.from[from]
	src.conns--
	if src.conns == 0 && src.idle(now) {
		delete(s.from, from)
	}
}

// sweep forgets every source without a connection. Those still in debt get away
// with it: the bound on memory comes first, and the node's rate holds anyway.
func (s *sources) sweep() {
	for from, src := range s.from {
		if src.conns == 0 {
			delete(s.from, from)
		}
	}
}

func (s *source) idle(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects.full(now) && s.bytes.full(now)
}

// read charges n bytes and returns how long the source stays unread.
func (s *source) read(now time.Time, n int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes.take(now, float64(n))
}

// object charges one object likewise.
func (s *source) object(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects.take(now, 1)
}

// over returns for how long the source is over a rate, and which; 0: it is not.
func (s *source) over(now time.Time) (reason string, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait := s.objects.wait(now); wait > 0 {
		return ReasonObjects, wait
	}
	if wait := s.bytes.wait(now); wait > 0 {
		return ReasonBytes, wait
	}
	return "", 0
}
