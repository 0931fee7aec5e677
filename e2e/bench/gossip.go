package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/wire"
	"treecast/wire/soc"
)

// gossipNet is the other side: go-libp2p-pubsub's gossipsub, carrying the same
// chunks in the same encoding and checking each once a host.
type gossipNet struct {
	sent    traffic
	in      atomic.Uint64 // messages that came in, repetitions included
	cancel  context.CancelFunc
	ctx     context.Context
	wg      sync.WaitGroup
	key     *soc.Key
	topic   wire.Topic
	next    uint64
	members []*gossipMember // the publisher first
	books   atomic.Pointer[reader]
	cfg     gossipConfig
}

type gossipMember struct {
	host   *meteredHost
	topic  *pubsub.Topic
	cancel context.CancelFunc
	gone   bool
	owner  atomic.Pointer[soc.OwnerKey] // the publisher's, once it is known
}

// newGossip starts n hosts, connects them, and waits until their meshes stand.
func newGossip(ctx context.Context, n int, cfg gossipConfig) (_ *gossipNet, err error) {
	g := &gossipNet{topic: wire.Topic(soc.Keccak256([]byte("bench"))), cfg: cfg}
	g.ctx, g.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	if g.key, err = soc.NewKey(); err != nil {
		return nil, err
	}
	for i := range n {
		if err := g.add(i); err != nil {
			return nil, fmt.Errorf("bench: gossipsub host %d: %w", i, err)
		}
	}
	for _, e := range randomGraph(n, cfg.degree, rand.New(rand.NewPCG(1, uint64(n)))) {
		to := g.members[e[1]].host
		if err := g.members[e[0]].host.Connect(ctx, peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
			return nil, fmt.Errorf("bench: connect %d to %d: %w", e[0], e[1], err)
		}
	}
	err = until(ctx, "all hosts know their neighbours' subscriptions", func() bool {
		for _, m := range g.members {
			if len(m.topic.ListPeers()) < len(m.host.Network().Peers()) {
				return false
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	// Grafts and prunes take some heartbeats, of a second each.
	select {
	case <-time.After(4 * time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return g, nil
}

func (g *gossipNet) add(i int) error {
	h, err := newHost(nil, &g.sent)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(g.ctx)
	m := &gossipMember{host: h, cancel: cancel}
	g.members = append(g.members, m)
	opts := g.cfg.options()
	if i > 0 {
		opts = append(opts, pubsub.WithAppSpecificRpcInspector(func(_ peer.ID, rpc *pubsub.RPC) error {
			g.in.Add(uint64(len(rpc.GetPublish())))
			return nil
		}))
	}
	ps, err := pubsub.NewGossipSub(ctx, h, opts...)
	if err != nil {
		return err
	}
	name := g.topic.String()
	if !g.cfg.noCheck {
		err = ps.RegisterTopicValidator(name, g.checker(m), pubsub.WithValidatorInline(g.cfg.inline))
		if err != nil {
			return err
		}
	}
	if m.topic, err = ps.Join(name); err != nil {
		return err
	}
	sub, err := m.topic.Subscribe(g.cfg.subscription()...)
	if err != nil {
		return err
	}
	g.wg.Go(func() { // ends with the member's context
		for {
			msg, err := sub.Next(ctx)
			if err != nil {
				return
			}
			if i > 0 {
				g.deliver(i-1, msg.Data)
			}
		}
	})
	return nil
}

// checker makes the same check of a chunk as a tree's node makes, with a table of the
// owner's key of its own, as each node has one. A validator sees one message at a
// time, so its batches are of one.
func (g *gossipNet) checker(m *gossipMember) pubsub.Validator {
	return func(_ context.Context, _ peer.ID, msg *pubsub.Message) bool {
		var b wire.Broadcast
		if b.Parse(msg.Data) != nil || b.Kind != wire.KindSoc {
			return false
		}
		owner := g.key.Owner()
		if !slices.Equal(b.Soc.Owner, owner[:]) {
			return false
		}
		checks := [1]soc.Check{{
			Chunk: soc.Chunk{ID: b.Soc.ID, Owner: b.Soc.Owner, Signature: b.Soc.Signature, Span: b.Soc.Span, Payload: b.Soc.Payload},
			Key:   m.owner.Load(),
		}}
		soc.VerifyBatch(checks[:])
		if key := checks[0].NewKey(); key != nil {
			m.owner.CompareAndSwap(nil, key)
		}
		return checks[0].Err == nil
	}
}

func (g *gossipNet) deliver(sub int, data []byte) {
	r := g.books.Load()
	if r == nil {
		return
	}
	if g.cfg.noCheck {
		r.take(sub, data)
		return
	}
	var b wire.Broadcast
	if b.Parse(data) == nil {
		r.take(sub, b.Soc.Payload)
	}
}

func (g *gossipNet) attach(r *reader)  { g.books.Store(r) }
func (g *gossipNet) traffic() *traffic { return &g.sent }
func (g *gossipNet) subscribers() int  { return len(g.members) - 1 }
func (g *gossipNet) copies() uint64    { return g.in.Load() }
func (g *gossipNet) links() int {
	hosts := make([]*meteredHost, len(g.members))
	for i, m := range g.members {
		hosts[i] = m.host
	}
	return connections(hosts)
}

func (g *gossipNet) asked() uint64  { return 0 }
func (g *gossipNet) shape() Figures { return nil }

// publish signs a chunk, as the tree's publisher does, and publishes its bytes.
func (g *gossipNet) publish(payload []byte) error {
	if g.cfg.noCheck {
		return g.members[0].topic.Publish(g.ctx, slices.Clone(payload))
	}
	id, span, owner := soc.FeedID(g.topic[:], g.next), soc.Span(len(payload)), g.key.Owner()
	sig, err := g.key.Sign(&id, span[:], payload)
	if err != nil {
		return err
	}
	data := wire.AppendSoc(nil, &wire.Soc{
		ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: payload, Index: g.next, HasIndex: true,
	})
	g.next++
	return g.members[0].topic.Publish(g.ctx, data)
}

// victims are the k hosts with the most connections, the publisher left out; where
// all have as many, the first.
func (g *gossipNet) victims(k int) (list []int) {
	var subs []int
	for i, m := range g.members[1:] {
		if !m.gone {
			subs = append(subs, i)
		}
	}
	slices.SortStableFunc(subs, func(a, b int) int {
		return len(g.members[b+1].host.Network().Peers()) - len(g.members[a+1].host.Network().Peers())
	})
	return subs[:k]
}

func (g *gossipNet) kill(sub int) {
	m := g.members[sub+1]
	m.gone = true
	m.host.cut()
	m.cancel()
}

func (g *gossipNet) mute(sub int) {
	m := g.members[sub+1]
	m.gone = true
	m.host.mute()
}

func (g *gossipNet) close() error {
	g.cancel()
	var errs []error
	for _, m := range g.members {
		errs = append(errs, m.host.Close())
	}
	g.wg.Wait()
	return errors.Join(errs...)
}
