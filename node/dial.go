package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/multiformats/go-multiaddr"

	"treecast/tree"
	"treecast/wire"
)

// dialRequest is a Subscribe to make.
type dialRequest struct {
	peer  wire.Overlay
	hints [][]byte
	scope scope  // of the connection that brought the hints
	body  []byte // the Subscribe message
}

// dialResult is what came of it.
type dialResult struct {
	outcome tree.DialOutcome
	ack     *wire.Ack
	stream  *stream // when accepted; not started
	self    bool
	scope   scope // of the connection that brought the ack
}

// drop ends a stream that nobody wants any more.
func (r *dialResult) drop() {
	if r.stream != nil {
		r.stream.discard()
	}
}

var (
	errSelf      = errors.New("node: the overlay is this node's own")
	errUnknown   = errors.New("node: no address known")
	errBlocked   = errors.New("node: peer is blocked")
	errNotNeeded = errors.New("node: all hints failed lately")
)

// subscribe resolves, connects, and asks for the cohort.
func (n *Node) subscribe(ctx context.Context, c *Cohort, req *dialRequest) dialResult {
	n.counts.add(countDials)
	id, err := n.connect(ctx, req)
	switch {
	case err == errSelf:
		return dialResult{outcome: tree.DialUnreachable, self: true}
	case err != nil:
		if ctx.Err() == nil {
			n.counts.add(countDialUnreachable)
			c.log.Debug("peer unreachable", "peer", req.peer.String(), "err", err)
		}
		return dialResult{outcome: tree.DialUnreachable}
	}
	res, err := n.handshake(ctx, c, id, req)
	if err != nil && ctx.Err() == nil {
		if res.outcome == tree.DialSilent {
			n.counts.add(countDialSilent)
			n.doubt(id)
		} else {
			n.counts.add(countDialBroken)
		}
		c.log.Debug("no answer to subscribe", "peer", req.peer.String(), "err", err)
	}
	return res
}

// connect finds the peer and has a connection to it: one that is there, else the
// addresses known of it, else the hints, else what the resolver says (PROTOCOL §9).
func (n *Node) connect(ctx context.Context, req *dialRequest) (peer.ID, error) {
	if req.peer == n.overlay {
		return "", errSelf
	}
	id, known := n.dir.peer(req.peer)
	if known && n.host.Network().Connectedness(id) == network.Connected {
		return id, nil
	}
	var errs []error
	if known && len(n.host.Peerstore().Addrs(id)) > 0 {
		err := n.dial(ctx, peer.AddrInfo{ID: id})
		if err == nil {
			return id, nil
		}
		errs = append(errs, err)
	}
	if len(req.hints) > 0 {
		id, err := n.dialHints(ctx, req)
		if err == nil {
			return id, nil
		}
		errs = append(errs, err)
	}
	if n.cfg.Resolve != nil {
		id, err := n.dialResolved(ctx, req.peer)
		if err == nil {
			return id, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return "", errUnknown
	}
	return "", errors.Join(errs...)
}

func (n *Node) dialHints(ctx context.Context, req *dialRequest) (peer.ID, error) {
	info, refused := n.hints.judge(req.peer, req.hints, req.scope)
	for range refused {
		n.counts.add(countHintRefused)
	}
	if info.ID == "" {
		return "", errUnknown
	}
	if info.Addrs = n.failed.filter(info.Addrs, time.Now()); len(info.Addrs) == 0 {
		n.counts.add(countHintRecentlyFailed)
		return "", errNotNeeded
	}
	err := n.dial(ctx, info)
	if err != nil && ctx.Err() == nil {
		n.failed.add(info.Addrs, time.Now())
	}
	return info.ID, err
}

func (n *Node) dialResolved(ctx context.Context, target wire.Overlay) (peer.ID, error) {
	rctx, cancel := context.WithTimeout(ctx, n.cfg.Waits.Resolve)
	defer cancel()
	info, err := n.cfg.Resolve(rctx, target)
	if err != nil {
		return "", fmt.Errorf("node: resolve %v: %w", target, err)
	}
	if o, err := n.dir.overlay(info.ID); err != nil || o != target {
		return "", fmt.Errorf("node: resolve %v: peer %s has another overlay", target, info.ID)
	}
	return info.ID, n.dial(ctx, info)
}

// dial connects. The waits between attempts are the core's and the hints', so
// libp2p's own back-off is cleared first.
func (n *Node) dial(ctx context.Context, info peer.AddrInfo) error {
	if n.blocker.blocked(info.ID) {
		return errBlocked
	}
	if sw, ok := n.host.Network().(interface{ Backoff() *swarm.DialBackoff }); ok {
		sw.Backoff().Clear(info.ID)
	}
	ctx, cancel := context.WithTimeout(ctx, n.cfg.Waits.Dial)
	defer cancel()
	if err := n.reach(ctx, info); err != nil {
		return fmt.Errorf("node: dial %s: %w", info.ID, err)
	}
	return nil
}

// handshake opens the stream, subscribes, and reads the Ack.
func (n *Node) handshake(ctx context.Context, c *Cohort, id peer.ID, req *dialRequest) (dialResult, error) {
	ctx, cancel := context.WithTimeout(ctx, n.cfg.Waits.Ack)
	defer cancel()
	raw, err := n.open(ctx, id, ProtocolID)
	if err != nil {
		return dialResult{outcome: tree.DialBroken}, err
	}
	if !n.streams.add(raw) {
		raw.Reset()
		return dialResult{outcome: tree.DialBroken}, ErrClosed
	}
	s := n.newStream(c, raw, id, req.peer, parentReadAhead)
	deadline, _ := ctx.Deadline()
	raw.SetDeadline(deadline)
	unhook := context.AfterFunc(ctx, func() { raw.Reset() }) // a cancelled dial waits for nobody
	ack, err := s.askAck(req.body)
	if !unhook() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		s.discard()
		if timedOut(err) || ctx.Err() == context.DeadlineExceeded {
			return dialResult{outcome: tree.DialSilent}, err
		}
		return dialResult{outcome: tree.DialBroken}, err
	}
	raw.SetDeadline(time.Time{})
	res := dialResult{outcome: tree.DialAnswered, ack: &ack, scope: scopeOf(raw.Conn().RemoteMultiaddr())}
	if ack.Status != wire.StatusOK {
		s.discard()
		return res, nil
	}
	res.stream = s
	return res, nil
}

// askAck sends a Subscribe and reads the answer.
func (s *stream) askAck(body []byte) (wire.Ack, error) {
	if _, err := s.raw.Write(wire.AppendFrame(nil, body)); err != nil {
		return wire.Ack{}, fmt.Errorf("node: subscribe: %w", err)
	}
	buf, err := s.in.Next()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return wire.Ack{}, fmt.Errorf("node: read ack: %w", err)
	}
	defer buf.Release()
	ack, err := wire.ParseAck(buf.Msg())
	if err != nil {
		return wire.Ack{}, fmt.Errorf("node: ack: %w", err)
	}
	return ack, nil
}

// addrInfos groups addresses with /p2p by peer, in order of first appearance.
func addrInfos(addrs []multiaddr.Multiaddr) ([]peer.AddrInfo, error) {
	var infos []peer.AddrInfo
	at := make(map[peer.ID]int)
	for _, a := range addrs {
		addr, id := peer.SplitAddr(a)
		if id == "" || addr == nil {
			return nil, fmt.Errorf("node: entry %v: want an address with /p2p", a)
		}
		i, ok := at[id]
		if !ok {
			i = len(infos)
			at[id] = i
			infos = append(infos, peer.AddrInfo{ID: id})
		}
		infos[i].Addrs = append(infos[i].Addrs, addr)
	}
	return infos, nil
}
