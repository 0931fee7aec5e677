package node

import (
	"errors"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// accept takes a stream that a peer opened: it reads the first frame and gives
// the stream to the cohort, or answers for a cohort that is not there. libp2p
// calls it in a goroutine of its own.
func (n *Node) accept(raw network.Stream) {
	if !n.enter() {
		raw.Reset()
		return
	}
	defer n.wg.Done()
	ok, full := n.streams.accept(raw)
	if full {
		n.counts.add(countStreamsPerPeer)
	}
	if !ok {
		raw.ResetWithError(network.StreamResourceLimitExceeded)
		return
	}
	id := raw.Conn().RemotePeer()
	if n.blocker.refuse(id) {
		n.drop(raw, network.StreamGated)
		return
	}
	overlay, err := n.dir.overlay(id)
	if err != nil {
		n.counts.add(countHandshakeBroken)
		n.drop(raw, network.StreamProtocolNegotiationFailed)
		return
	}
	s := n.newStream(nil, raw, id, overlay, 0)
	s.inbound = true
	first, err := s.readFirst(n)
	if err != nil {
		n.log.Debug("stream ended: no first frame", "peer", id, "err", err)
		n.drop(raw, network.StreamProtocolViolation)
		return
	}
	s.handOver(n, &first)
}

func (n *Node) drop(raw network.Stream, code network.StreamErrorCode) {
	raw.ResetWithError(code)
	n.streams.remove(raw)
}

// readFirst reads the first frame within its time, and counts why it cannot.
func (s *stream) readFirst(n *Node) (wire.First, error) {
	s.raw.SetReadDeadline(time.Now().Add(n.cfg.Waits.Handshake))
	buf, err := s.in.Next()
	if err != nil {
		switch {
		case errors.Is(err, wire.ErrMalformed):
			n.countMalformed(err)
		case timedOut(err):
			n.counts.add(countHandshakeTimeout)
		default:
			n.counts.add(countHandshakeBroken)
		}
		return wire.First{}, err
	}
	defer buf.Release()
	first, err := wire.ParseFirst(buf.Msg())
	if err != nil {
		n.counts.add(countBadFirstFrame)
		return wire.First{}, err
	}
	s.raw.SetReadDeadline(time.Time{})
	return first, nil
}

// countMalformed counts a frame that broke the format, by whether its length did.
func (n *Node) countMalformed(err error) {
	if syntax := (*wire.SyntaxError)(nil); errors.As(err, &syntax) {
		n.counts.add(countBadFrame)
	} else {
		n.counts.add(countBadLength)
	}
}

// handOver gives a stream to the cohort that it asks for, or answers it here.
func (s *stream) handOver(n *Node, first *wire.First) {
	sub := first.Subscribe
	var c *Cohort
	if first.Open != nil {
		var status wire.Status
		if c, status = n.openFor(s.peer, &first.Open.Spec); c == nil {
			n.refuse(s.raw, status)
			return
		}
		sub = &wire.Subscribe{Topic: first.Open.Spec.Topic, Auth: first.Open.Auth}
	} else if c = n.Cohort(sub.Topic); c == nil {
		n.counts.add(countUnknownTopic)
		n.refuse(s.raw, wire.StatusUnknownTopic)
		return
	}
	s.c = c
	in := &tree.SubscribeIn{Peer: s.overlay, Msg: sub, Proved: n.proved(s.peer, s.overlay, sub)}
	l := c.loop
	if !c.box.post(func() {
		l.admit(s)
		in.Stream = s.id
		s.start()
		l.step(in)
	}) {
		s.discard() // the cohort is closing
	}
}

// refuse answers a stream that no cohort takes, and gives the peer the time to
// read that (PROTOCOL §2).
func (n *Node) refuse(raw network.Stream, status wire.Status) {
	defer n.drop(raw, network.StreamNoError)
	ack := wire.Ack{Status: status}
	raw.SetDeadline(time.Now().Add(n.cfg.Waits.Refused))
	if _, err := raw.Write(wire.AppendFrame(nil, ack.Append(nil))); err != nil {
		return
	}
	if err := raw.CloseWrite(); err != nil {
		return
	}
	io.CopyN(io.Discard, raw, wire.MaxMessage) // ends with the other half, or the deadline
}

// proved says whether a Subscribe's auth belongs to the peer: by its node key,
// or by a proof (PROTOCOL §6 PublisherAuth).
func (n *Node) proved(id peer.ID, overlay wire.Overlay, sub *wire.Subscribe) bool {
	a := sub.Auth
	if a == nil {
		return false
	}
	if owner, err := ownerOfPeer(id); err == nil && owner == soc.Owner(a.Owner) {
		return true
	}
	if len(a.Proof) == 0 {
		return false
	}
	hash := authHash(sub.Topic, n.overlay, overlay)
	if owner, err := soc.RecoverOwner(&hash, a.Proof); err == nil && owner == soc.Owner(a.Owner) {
		return true
	}
	n.counts.add(countProofInvalid)
	return false
}

// authHash is what the owner of an auth signs for one subscriber at one acceptor.
func authHash(topic wire.Topic, acceptor, subscriber wire.Overlay) soc.Hash {
	return soc.Keccak256([]byte("treecast-auth"), topic[:], acceptor[:], subscriber[:])
}

// openFor serves an Open of a peer: the cohort it then subscribes to, or nil and
// the answer (PROTOCOL §4 Who opens).
func (n *Node) openFor(p peer.ID, spec *wire.Spec) (*Cohort, wire.Status) {
	if err := tree.ValidateSpec(spec); err != nil {
		n.counts.add(countOpenInvalid)
		return nil, wire.StatusRejected
	}
	if c := n.Cohort(spec.Topic); c != nil {
		if served := c.View().Spec; served == nil || !served.Equal(spec) {
			n.counts.add(countOpenConflict)
			return nil, wire.StatusRejected
		}
		return c, wire.StatusOK
	}
	if !n.mayOpen(p) {
		n.counts.add(countOpenRefused)
		return nil, wire.StatusRejected
	}
	c, err := n.openBroker(spec, CohortOptions{}, opened{broker: true, by: p})
	switch {
	case err == nil:
		return c, wire.StatusOK
	case errors.Is(err, ErrLimit):
		return nil, wire.StatusFull
	case errors.Is(err, ErrServed):
		n.counts.add(countOpenConflict)
		return nil, wire.StatusRejected
	}
	n.log.Error("cohort of a peer not opened", "peer", p, "topic", spec.Topic.String(), "err", err)
	return nil, wire.StatusFull
}
