package cluster

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"treecast/node"
	"treecast/wire"
)

// A Muffle is a host whose node withholds chunks from its children, whatever the
// node itself does: the bad parent of a test. Handshakes and control frames pass,
// so that nothing else gives it away, unless it is mute.
type Muffle struct {
	host.Host
	every atomic.Int64
	held  atomic.Int64
	mute  atomic.Bool
}

// Mute has those who opened streams here get nothing any more from now on, be it
// an answer; the connections stay.
func (m *Muffle) Mute() { m.mute.Store(true) }

// Withhold keeps back each every-th chunk from each child from now on: 1 all of
// them, 0 none.
func (m *Muffle) Withhold(every int64) { m.every.Store(every) }

// Held is how many chunks were kept back.
func (m *Muffle) Held() int64 { return m.held.Load() }

// SetStreamHandler puts the filter on the streams that children open.
func (m *Muffle) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	plain := handle
	switch id {
	case node.ProtocolID:
		handle = func(s network.Stream) { plain(&muffled{Stream: s, m: m}) }
	case node.RecoverProtocolID:
		handle = func(s network.Stream) { plain(&muted{Stream: s, m: m}) }
	}
	m.Host.SetStreamHandler(id, handle)
}

// muted is a stream of any kind to a host that may be mute.
type muted struct {
	network.Stream
	m *Muffle
}

// Write passes b on, unless the host is mute.
func (s *muted) Write(b []byte) (int, error) {
	if s.m.mute.Load() {
		return len(b), nil
	}
	return s.Stream.Write(b)
}

// muffled is one child's stream. Its node writes it from one goroutine at a time.
type muffled struct {
	network.Stream
	m      *Muffle
	acked  bool
	chunks int64
	rest   []byte // of a frame that is not whole yet
}

// Write passes on the frames of b but those withheld.
func (s *muffled) Write(b []byte) (int, error) {
	if s.m.mute.Load() {
		return len(b), nil
	}
	s.rest = append(s.rest, b...)
	var pass []byte
	for {
		size, n := binary.Uvarint(s.rest)
		if n <= 0 || uint64(len(s.rest)-n) < size {
			break
		}
		frame := s.rest[:n+int(size)]
		if !s.withheld(frame[n:]) {
			pass = append(pass, frame...)
		}
		s.rest = s.rest[len(frame):]
	}
	s.rest = append([]byte(nil), s.rest...)
	if len(pass) > 0 {
		if _, err := s.Stream.Write(pass); err != nil {
			return 0, fmt.Errorf("cluster: muffle: %w", err)
		}
	}
	return len(b), nil
}

func (s *muffled) withheld(msg []byte) bool {
	if !s.acked {
		s.acked = true
		return false
	}
	var frame wire.Broadcast
	every := s.m.every.Load()
	if every == 0 || frame.Parse(msg) != nil || frame.Kind != wire.KindSoc {
		return false
	}
	s.chunks++
	if s.chunks%every != 0 {
		return false
	}
	s.m.held.Add(1)
	return true
}
