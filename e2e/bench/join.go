package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"treecast/node"
	"treecast/wire/soc"
)

const (
	joinName = "join-1000"
	joins    = 1000
	// joinEvery is after how many joins the dials are measured once.
	joinEvery = 4
)

// echoID is the protocol of the streams that are opened to be measured.
const echoID protocol.ID = "/bench/echo/1.0.0"

// join is many nodes that enter a tree one after the other and stay, each timed
// from Join until it has two parents, or the broker. Two dials and two stream
// openings of a fresh host of the same kind are measured in between.
func (b *bench) join(ctx context.Context) (row, error) {
	t, err := newTree(ctx, 1, 2)
	if err != nil {
		return row{}, err
	}
	defer t.close()
	spec := *t.members[0].cohort.View().Spec
	targets, closeTargets, err := echoHosts(2)
	if err != nil {
		return row{}, err
	}
	defer closeTargets()
	freshPeak()
	var took, dialled, dials, streams []float64
	for i := range joins {
		m, err := newTreeMember(&t.sent)
		if err != nil {
			return row{}, err
		}
		t.members = append(t.members, m)
		begin := time.Now()
		m.cohort, err = m.node.Join(node.CohortOptions{Topic: spec.Topic, Spec: &spec, Entries: t.members[0].node.Addrs(), Capacity: slots})
		if err != nil {
			return row{}, err
		}
		limit, cancel := context.WithTimeout(ctx, settleLimit)
		err = m.cohort.WaitAttached(limit, 2)
		cancel()
		if err != nil {
			return row{}, fmt.Errorf("%s: node %d: %w", joinName, i+1, err)
		}
		took = append(took, ms(time.Since(begin)))
		if i%joinEvery == 0 {
			d, s, err := dialTwice(ctx, targets)
			if err != nil {
				return row{}, err
			}
			dials, streams, dialled = append(dials, ms(d)), append(streams, ms(s)), append(dialled, ms(d+s))
		}
		if (i+1)%250 == 0 {
			b.say("  %s: %d nodes, p50 %.1f ms beside %.1f", joinName, i+1, median(took), median(dialled))
		}
	}
	if err := t.settle(ctx); err != nil {
		return row{}, err
	}
	ours := t.shape()
	attached := 0
	for _, m := range t.members[1:] {
		if m.cohort.View().Attached {
			attached++
		}
	}
	ours["attached"] = float64(attached)
	ours["p50_ms"], ours["p95_ms"], ours["p99_ms"] = percentile(took, 0.5), percentile(took, 0.95), percentile(took, 0.99)
	ours["rss_kib_per_node"] = peakMiB() * 1024 / joins
	ours["goroutines_per_node"] = float64(runtime.NumGoroutine()) / joins
	r := row{
		Workload: joinName, Opponent: "two-dials", Rounds: 1, Treecast: ours,
		Beside:   Figures{"p50_ms": percentile(dialled, 0.5), "p99_ms": percentile(dialled, 0.99), "two_dials_p50_ms": median(dials), "two_streams_p50_ms": median(streams)},
		MaxDepth: ours["max_depth"], MeanParents: ours["mean_parents"],
	}
	r.Ratio = ratios(r.Treecast, r.Beside)
	if attached != joins {
		r.Void = fmt.Sprintf("%d of %d nodes are attached", attached, joins)
	}
	return r, nil
}

// echoHosts are hosts that send back one byte on streams of echoID.
func echoHosts(n int) (targets []peer.AddrInfo, closeAll func(), err error) {
	var hosts []*meteredHost
	closeAll = func() {
		for _, h := range hosts {
			h.Close()
		}
	}
	for range n {
		h, err := newSecpHost(&traffic{})
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		hosts = append(hosts, h)
		h.SetStreamHandler(echoID, func(s network.Stream) {
			defer s.Close()
			io.CopyN(s, s, 1)
		})
		targets = append(targets, peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
	}
	return targets, closeAll, nil
}

func newSecpHost(t *traffic) (*meteredHost, error) {
	key, err := soc.NewKey()
	if err != nil {
		return nil, err
	}
	priv, err := crypto.UnmarshalSecp256k1PrivateKey(key.Bytes())
	if err != nil {
		return nil, fmt.Errorf("bench: node key: %w", err)
	}
	return newHost(priv, t)
}

// dialTwice has a fresh host dial the targets and open a stream to each, of which
// the first byte comes back.
func dialTwice(ctx context.Context, targets []peer.AddrInfo) (dial, stream time.Duration, err error) {
	h, err := newSecpHost(&traffic{})
	if err != nil {
		return 0, 0, err
	}
	defer h.Close()
	begin := time.Now()
	for _, t := range targets {
		if err := h.Connect(ctx, t); err != nil {
			return 0, 0, fmt.Errorf("bench: dial: %w", err)
		}
	}
	dial = time.Since(begin)
	begin = time.Now()
	for _, t := range targets {
		s, err := h.NewStream(ctx, t.ID, echoID)
		if err != nil {
			return 0, 0, fmt.Errorf("bench: stream: %w", err)
		}
		if _, err := s.Write([]byte{1}); err != nil {
			return 0, 0, fmt.Errorf("bench: stream: %w", err)
		}
		if _, err := io.ReadFull(s, make([]byte, 1)); err != nil {
			return 0, 0, fmt.Errorf("bench: stream: %w", err)
		}
		s.Close()
	}
	return dial, time.Since(begin), nil
}
