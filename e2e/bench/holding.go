package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/network"

	"treecast/node"
	"treecast/tree"
	"treecast/wire/soc"
)

// A holding is what a process holds at one moment, after collections.
type holding struct {
	Units      int     // of what is counted: children, streams, cohorts, hosts, chunks
	Heap       float64 // bytes of live objects
	Stack      float64 // bytes of the goroutines' stacks
	Resident   float64 // bytes of memory in use, as the system sees it
	Goroutines int
}

// hold collects what is garbage, gives back what is free, and measures.
func hold(units int) holding {
	for range 3 { // pools keep what they have over one collection
		runtime.GC()
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return holding{
		Units: units, Heap: float64(m.HeapAlloc), Stack: float64(m.StackInuse), Resident: statusKiB("VmRSS:") * 1024,
		Goroutines: runtime.NumGoroutine(),
	}
}

// holdings answers each line with a holding.
func (c *conversation) holdings(units func() int) error {
	return c.answers(func() (any, error) { return hold(units()), nil })
}

func (p *part) hold() (h holding, err error) {
	if err := p.send("hold"); err != nil {
		return h, err
	}
	return h, p.receive(&h)
}

// perUnit is what each further unit of the second holding costs over the first.
func perUnit(before, after holding) (Figures, error) {
	n := float64(after.Units - before.Units)
	if n <= 0 {
		return nil, fmt.Errorf("bench: holdings of %d and %d units", before.Units, after.Units)
	}
	return Figures{
		"heap_bytes":     (after.Heap - before.Heap) / n,
		"stack_bytes":    (after.Stack - before.Stack) / n,
		"resident_bytes": (after.Resident - before.Resident) / n,
		"goroutines":     float64(after.Goroutines-before.Goroutines) / n,
	}, nil
}

// roleHoldNodes has a number of hosts, with a node each or bare.
func roleHoldNodes(c *conversation, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("bench: hold-nodes: %d arguments", len(args))
	}
	count, err := strconv.Atoi(args[1])
	if err != nil {
		return fmt.Errorf("bench: hold-nodes: %w", err)
	}
	for range count {
		h, err := newSecpHost(&traffic{})
		if err != nil {
			return err
		}
		defer h.Close()
		if args[0] != "node" {
			continue
		}
		n, err := node.New(node.Config{Host: h})
		if err != nil {
			return err
		}
		defer n.Close()
	}
	return c.holdings(func() int { return count })
}

// roleHoldCohorts has a node that opened a number of cohorts.
func roleHoldCohorts(c *conversation, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("bench: hold-cohorts: %d arguments", len(args))
	}
	count, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("bench: hold-cohorts: %w", err)
	}
	m, err := newTreeMember(&traffic{})
	if err != nil {
		return err
	}
	defer m.close()
	for i := range count {
		spec := specOf(fmt.Sprint("cohort ", i), soc.Owner{1})
		if _, err := m.node.Open(spec, node.CohortOptions{Topic: spec.Topic, Capacity: slots}); err != nil {
			return err
		}
	}
	return c.holdings(func() int { return m.node.Stats().Cohorts })
}

// roleHoldChildren is a broker with room for all who come.
func roleHoldChildren(c *conversation) error {
	m, err := newTreeMember(&traffic{})
	if err != nil {
		return err
	}
	defer m.close()
	spec := specOf("bench", soc.Owner{1})
	if m.cohort, err = m.node.Open(spec, node.CohortOptions{Topic: spec.Topic, Capacity: memChildren}); err != nil {
		return err
	}
	if err := c.send(m.node.Addrs()[0].String()); err != nil {
		return err
	}
	return c.holdings(func() int { return len(m.cohort.View().Children) })
}

// roleHoldStreams is a bare host that reads whatever streams it is given.
func roleHoldStreams(c *conversation) error {
	h, err := newSecpHost(&traffic{})
	if err != nil {
		return err
	}
	defer h.Close()
	var open atomic.Int64
	h.SetStreamHandler(rawID, func(s network.Stream) {
		open.Add(1)
		defer open.Add(-1)
		io.Copy(io.Discard, struct{ io.Reader }{s}) // ends with the stream
	})
	if err := c.send(fmt.Sprintf("%s/p2p/%s", h.Addrs()[0], h.ID())); err != nil {
		return err
	}
	return c.holdings(func() int { return int(open.Load()) })
}

// roleHoldRelay is a relay that keeps little of what passes.
func roleHoldRelay(ctx context.Context, c *conversation, args []string) error {
	m, err := joinRelay(ctx, c, args, &traffic{}, withRing(memRing))
	if err != nil {
		return err
	}
	defer m.close()
	return c.holdings(func() int { return int(m.cohort.Counters()[tree.CountDelivered]) })
}
