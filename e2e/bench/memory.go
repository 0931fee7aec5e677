package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/multiformats/go-multiaddr"

	"treecast/node"
	"treecast/wire/soc"
)

const (
	memStreamName = "mem-child-stream"
	memCohortName = "mem-cohort"
	memNodeName   = "mem-node"
	memChunksName = "mem-chunks"

	memFewChildren  = 64
	memChildren     = 512
	memFewCohorts   = 100
	memCohorts      = 1000
	memNodes        = 32
	memRing         = 1 << 20 // bytes of the relay's ring of kept chunks
	memChunksBefore = 2000    // chunks that have passed at the first look
	memChunksMore   = 10000   // and between two looks
	memLooks        = 3
	memRelayed      = 4 // children of that relay

	// restTime is how long what dials and handshakes leave behind may take to go.
	restTime = 3 * time.Second
)

// memNode measures a node without cohorts, over its libp2p host: a process with
// some of them beside one with as many bare hosts.
func (b *bench) memNode(ctx context.Context) (row, error) {
	each := func(kind string) (Figures, error) {
		none, err := holdOnce(ctx, 0, "hold-nodes", kind, "0")
		if err != nil {
			return nil, err
		}
		all, err := holdOnce(ctx, memNodes, "hold-nodes", kind, strconv.Itoa(memNodes))
		if err != nil {
			return nil, err
		}
		return perUnit(none, all)
	}
	host, err := each("host")
	if err != nil {
		return row{}, fmt.Errorf("%s: %w", memNodeName, err)
	}
	with, err := each("node")
	if err != nil {
		return row{}, fmt.Errorf("%s: %w", memNodeName, err)
	}
	return memRow(memNodeName, "bare-host", with, host), nil
}

// memCohort measures a cohort without streams.
func (b *bench) memCohort(ctx context.Context) (row, error) {
	var at [3]holding
	for i, n := range []int{1, memFewCohorts, memCohorts} {
		var err error
		if at[i], err = holdOnce(ctx, n, "hold-cohorts", strconv.Itoa(n)); err != nil {
			return row{}, fmt.Errorf("%s: %w", memCohortName, err)
		}
	}
	few, err := perUnit(at[0], at[1])
	if err != nil {
		return row{}, err
	}
	all, err := perUnit(at[0], at[2])
	if err != nil {
		return row{}, err
	}
	r := row{Workload: memCohortName, Opponent: nobody, Rounds: 1, Treecast: all, Ratio: map[string]float64{}}
	r.Treecast[fmt.Sprintf("heap_bytes_of_%d", memFewCohorts)] = few["heap_bytes"]
	return r, nil
}

// memStream measures a child that is idle, its connection and its stream included,
// at a broker; beside it a bare host's connection with one stream that is read.
func (b *bench) memStream(ctx context.Context) (row, error) {
	children := make([]*treeMember, 0, memChildren)
	defer func() {
		for _, m := range children {
			m.close()
		}
	}()
	for range memChildren {
		m, err := newTreeMember(&traffic{})
		if err != nil {
			return row{}, fmt.Errorf("%s: %w", memStreamName, err)
		}
		children = append(children, m)
	}
	var sides [2]Figures
	for i, side := range []struct {
		role    string
		connect func(context.Context, []*treeMember, string) error
	}{{"hold-children", joinAll}, {"hold-streams", streamAll}} {
		var at [3]holding
		for k, n := range []int{0, memFewChildren, memChildren} {
			h, err := holdWith(ctx, side.role, func(addr string) error { return side.connect(ctx, children[:n], addr) }, n)
			for _, m := range children[:n] {
				if m.cohort != nil {
					m.cohort.Close()
					m.cohort = nil
				}
			}
			if err != nil {
				return row{}, fmt.Errorf("%s: %s: %w", memStreamName, side.role, err)
			}
			at[k] = h
			b.say("  %s: %d at %s: %.1f MiB live, %.1f MiB resident", memStreamName, n, side.role, h.Heap/(1<<20), h.Resident/(1<<20))
		}
		few, err := perUnit(at[0], at[1])
		if err != nil {
			return row{}, err
		}
		if sides[i], err = perUnit(at[0], at[2]); err != nil {
			return row{}, err
		}
		sides[i][fmt.Sprintf("heap_bytes_of_%d", memFewChildren)] = few["heap_bytes"]
	}
	return memRow(memStreamName, "bare-stream", sides[0], sides[1]), nil
}

// joinAll makes all of them children of the node at addr.
func joinAll(ctx context.Context, children []*treeMember, addr string) error {
	at, err := multiaddr.NewMultiaddr(addr)
	if err != nil {
		return fmt.Errorf("bench: address: %w", err)
	}
	spec := specOf("bench", soc.Owner{1})
	for i, m := range children {
		m.cohort, err = m.node.Join(node.CohortOptions{Topic: spec.Topic, Spec: &spec, Entries: []multiaddr.Multiaddr{at}, Capacity: -1, Parents: 1})
		if err != nil {
			return err
		}
		if err := m.cohort.WaitAttached(ctx, 1); err != nil {
			return fmt.Errorf("bench: child %d: %w", i, err)
		}
	}
	return nil
}

// streamAll has each open a stream to the host at addr, which stays open.
func streamAll(ctx context.Context, hosts []*treeMember, addr string) error {
	to, err := addrInfo(addr)
	if err != nil {
		return err
	}
	for _, m := range hosts {
		if err := m.host.Connect(ctx, *to); err != nil {
			return fmt.Errorf("bench: dial: %w", err)
		}
		s, err := m.host.NewStream(ctx, to.ID, rawID)
		if err != nil {
			return fmt.Errorf("bench: stream: %w", err)
		}
		if _, err := s.Write([]byte{0}); err != nil { // which tells the other side of it
			return fmt.Errorf("bench: stream: %w", err)
		}
	}
	return nil
}

// memChunks measures a relay with a small ring after some thousand chunks and after
// ten times as many: what it holds must not grow with what has passed.
func (b *bench) memChunks(ctx context.Context) (_ row, err error) {
	t, err := newTree(ctx, 1, 1)
	if err != nil {
		return row{}, err
	}
	defer t.close()
	p, err := startPart(ctx, "hold-relay", relayArgs(t)...)
	if err != nil {
		return row{}, err
	}
	defer p.stop()
	if err := t.putUnder(ctx, p, memRelayed); err != nil {
		return row{}, fmt.Errorf("%s: %w", memChunksName, err)
	}
	f := Figures{}
	var looks []holding
	for i := range memLooks {
		n := memChunksMore
		if i == 0 {
			n = memChunksBefore
		}
		if err := push(ctx, t, n); err != nil {
			return row{}, fmt.Errorf("%s: %w", memChunksName, err)
		}
		if err := sleepFor(ctx, time.Second); err != nil {
			return row{}, err
		}
		h, err := p.hold()
		if err != nil {
			return row{}, err
		}
		b.say("  %s: after %d chunks %.2f MiB live, %.1f MiB resident", memChunksName, h.Units, h.Heap/(1<<20), h.Resident/(1<<20))
		looks = append(looks, h)
		f[fmt.Sprintf("heap_bytes_after_%d", h.Units)] = h.Heap
		f[fmt.Sprintf("resident_bytes_after_%d", h.Units)] = h.Resident
	}
	growth, err := perUnit(looks[0], looks[memLooks-1])
	if err != nil {
		return row{}, fmt.Errorf("%s: %w", memChunksName, err)
	}
	f["heap_bytes_per_chunk"], f["resident_bytes_per_chunk"] = growth["heap_bytes"], growth["resident_bytes"]
	return row{Workload: memChunksName, Opponent: nobody, Rounds: 1, Treecast: f, Ratio: map[string]float64{}}, nil
}

// push publishes n chunks in a closed loop and waits until all have them.
func push(ctx context.Context, net side, n int) error {
	books := newLedger(net.subscribers(), window)
	src := plainSource(4096)
	net.attach(&reader{books: books})
	defer net.attach(nil)
	for range n {
		select {
		case books.room <- struct{}{}:
		case <-time.After(drainLimit):
			return fmt.Errorf("bench: no chunk arrives any more after %d", books.sent.Load())
		case <-ctx.Done():
			return ctx.Err()
		}
		payload := src.next(books.sent.Load())
		books.send()
		if err := net.publish(payload); err != nil {
			return err
		}
	}
	drain(ctx, books)
	if lost, _ := books.missing(0, int64(n)); lost > 0 {
		return fmt.Errorf("bench: %d deliveries of %d chunks are missing", lost, n)
	}
	return nil
}

// holdOnce starts a process in a role that needs nobody else, and measures it.
func holdOnce(ctx context.Context, units int, role string, args ...string) (holding, error) {
	p, err := startPart(ctx, role, args...)
	if err != nil {
		return holding{}, err
	}
	defer p.stop()
	return p.rested(ctx, units)
}

// holdWith starts a process that tells its address, has others connect to it, and
// measures it.
func holdWith(ctx context.Context, role string, connect func(addr string) error, units int) (holding, error) {
	p, err := startPart(ctx, role)
	if err != nil {
		return holding{}, err
	}
	defer p.stop()
	var addr string
	if err := p.receive(&addr); err != nil {
		return holding{}, err
	}
	if err := connect(addr); err != nil {
		return holding{}, err
	}
	return p.rested(ctx, units)
}

// rested measures a process after a rest, and is sure that it has what it should.
func (p *part) rested(ctx context.Context, units int) (holding, error) {
	if err := sleepFor(ctx, restTime); err != nil {
		return holding{}, err
	}
	h, err := p.hold()
	if err == nil && h.Units != units {
		err = fmt.Errorf("bench: part: it has %d of %d", h.Units, units)
	}
	return h, err
}

// memRow is a row of ours with the bare part beside it, and what is our own.
func memRow(name, opponent string, ours, bare Figures) row {
	r := row{Workload: name, Opponent: opponent, Rounds: 1, Treecast: ours, Beside: bare, Ratio: map[string]float64{}}
	for _, f := range []string{"heap_bytes", "stack_bytes", "resident_bytes", "goroutines"} {
		ours["own_"+f] = ours[f] - bare[f]
	}
	if v, ok := ratio(ours["heap_bytes"], bare["heap_bytes"]); ok {
		r.Ratio["heap"] = v
	}
	return r
}
