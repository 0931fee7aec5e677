package main

import (
	"context"
	"fmt"
	"regexp"
	"time"
)

// A workload is a load on networks of one size.
type workload struct {
	name      string
	hosts     int // the publisher among them
	parents   int
	load      load
	opponents []string
	// shares: it runs on our networks of the workload before it, in turns with that
	// one, as a claim holds one against the other. The machine's speed drifts, and no
	// two trees are alike.
	shares bool
}

// times are how long the parts of a run take.
type times struct{ warm, measure time.Duration }

const (
	// fillTime is enough for 64 nodes to fill ringBytes each.
	fillTime = 4 * time.Second
	// forgetTime is more than the five heartbeats for which gossipsub speaks of what
	// filled it.
	forgetTime = 6 * time.Second
)

// workloads are those that are runs on networks, in order.
func workloads(t times) (list []workload) {
	closed := load{warm: t.warm, measure: t.measure}
	for _, n := range []int{8, 32, 64} {
		for _, size := range []int{512, 4096} {
			l := closed
			l.payload = size
			list = append(list, workload{fmt.Sprintf("closed-%d-n%d", size, n), n, 2, l, closedOpponents(size, n), false})
			if size == 4096 && n == 32 {
				objects := l
				objects.payload, objects.objects = 1<<20, true
				list = append(list, workload{"closed-1MiB-n32", n, 2, objects, []string{"tuned", "whole"}, true})
			}
			l.rate, l.fill, l.warm, l.measure = 20, fillTime, max(t.warm, forgetTime), max(t.measure, 10*time.Second)
			list = append(list, workload{fmt.Sprintf("rate-%d-n%d", size, n), n, 2, l, rateOpponents(size, n), false})
		}
	}
	l := closed
	l.payload = 4096
	list = append(list,
		workload{"closed-4096-n32-parents1", 32, 1, l, []string{"tuned", bestName}, false},
		workload{"closed-4096-n32-settings", 32, 2, l, []string{bestName, "narrow", "half", "inline"}, false})
	for _, kind := range []string{"kill", "mute"} {
		l := load{payload: 4096, rate: 50, fill: fillTime, warm: max(t.warm, forgetTime), measure: 24 * time.Second, faults: []fault{
			{after: 4 * time.Second, hosts: 1, mute: kind == "mute"},
			{after: 14 * time.Second, hosts: 4, mute: kind == "mute"},
		}}
		list = append(list, workload{"rate-4096-n32-" + kind, 32, 2, l, []string{"tuned"}, false})
	}
	return list
}

// closedOpponents are who stands beside a closed loop: best on 32 hosts and in the
// largest row, stock where its short queues can be seen to lose something.
func closedOpponents(size, n int) []string {
	list := []string{"tuned"}
	if n == 32 || size == 4096 && n == 64 {
		list = append(list, bestName)
	}
	list = append(list, "default")
	if size == 4096 && n == 32 {
		list = append(list, "stock")
	}
	return list
}

// rateOpponents are who stands beside a fixed rate: tuned, and on 32 hosts the others.
func rateOpponents(size, n int) []string {
	switch {
	case n == 32 && size == 4096:
		return []string{"tuned", bestName, "default"}
	case n == 32:
		return []string{"tuned", "default"}
	}
	return []string{"tuned"}
}

// smokeWorkloads are the two of bench-smoke.
func smokeWorkloads() (list []workload) {
	for _, size := range []int{512, 4096} {
		l := load{payload: size, warm: 500 * time.Millisecond, measure: 2 * time.Second}
		list = append(list, workload{fmt.Sprintf("closed-%d-n16", size), 16, 2, l, []string{"tuned", "default"}, false})
	}
	return list
}

// void says why a tree's run does not count; empty if it does. Trees of fewer than
// 32 nodes are too flat for most of it.
func void(w *workload, f Figures) string {
	depth := 0.0
	switch {
	case w.hosts >= 64:
		depth = 3
	case w.hosts >= 32:
		depth = 2
	}
	switch {
	case f["max_depth"] < depth:
		return fmt.Sprintf("max_depth %v, want %v", f["max_depth"], depth)
	case w.parents < 2 || w.hosts < 32:
		return ""
	case f["dual_parented"] < 0.95:
		return fmt.Sprintf("%.0f %% of the nodes not under the broker have two parents, want 95 %%", 100*f["dual_parented"])
	case f["copies"] < 1.6:
		return fmt.Sprintf("%.2f copies, want 1.6", f["copies"])
	}
	return ""
}

// bench is what all workloads of one invocation share.
type bench struct {
	rounds   int
	only     *regexp.Regexp // nil: all but the extra ones
	times    times
	profiles profiles
	say      func(format string, args ...any)
}

// once starts a network, has it do its work, and closes it.
func (b *bench) once(start func() (side, error), do func(side) (Figures, error)) (Figures, error) {
	begin := time.Now()
	net, err := start()
	if err != nil {
		return nil, err
	}
	setup := time.Since(begin)
	f, err := do(net)
	if cerr := net.close(); err == nil && cerr != nil {
		b.say("  closing: %v", cerr)
	}
	if err != nil {
		return nil, err
	}
	f["setup_s"] = setup.Seconds()
	return f, nil
}

// turns is how often each workload of several runs on one network of ours.
const turns = 2

// ours starts a network and has it do what the workloads of a group ask for: the one
// there is, or several in turns, in the other order each time. It returns the figures of
// each.
func (b *bench) ours(ctx context.Context, group []workload, round int) ([][]Figures, error) {
	list := make([][]Figures, len(group))
	n := 1
	if len(group) > 1 {
		n = turns
	}
	last, err := b.once(
		func() (side, error) { return newTree(ctx, group[0].hosts, group[0].parents) },
		func(net side) (f Figures, err error) {
			for turn := range n {
				for i := range group {
					if (round+turn)%2 == 1 {
						i = len(group) - 1 - i
					}
					w := &group[i]
					if f, err = run(ctx, net, &w.load, b.profiles.next(w.name, ourSide, round*n+turn)); err != nil {
						return nil, fmt.Errorf("%s: treecast: %w", w.name, err)
					}
					b.say("  %s round %d treecast: %s", w.name, round+1, brief(f))
					list[i] = append(list[i], f)
				}
			}
			return f, nil
		})
	for _, runs := range list {
		for _, f := range runs {
			f["setup_s"] = last["setup_s"]
		}
	}
	return list, err
}

func (b *bench) theirs(ctx context.Context, w *workload, opponent string, round int) (Figures, error) {
	return b.once(
		func() (side, error) { return newGossip(ctx, w.hosts, rivals[opponent]) },
		func(net side) (Figures, error) {
			return run(ctx, net, rivalLoad(w, opponent), b.profiles.next(w.name, opponent, round))
		})
}

// compare runs workloads that share our networks for both sides in turn, round by
// round; each round of ours stands beside one round of each opponent.
func (b *bench) compare(ctx context.Context, group ...workload) (rows []row, err error) {
	ours := make([][]Figures, len(group))
	theirs := make([]map[string][]Figures, len(group))
	mine := func(round int) error {
		list, err := b.ours(ctx, group, round)
		for i := range list {
			ours[i] = append(ours[i], list[i]...)
		}
		return err
	}
	for round := range b.rounds {
		if round%2 == 0 {
			if err := mine(round); err != nil {
				return nil, err
			}
		}
		for i := range group {
			w := &group[i]
			if theirs[i] == nil {
				theirs[i] = make(map[string][]Figures)
			}
			for _, o := range w.opponents {
				f, err := b.theirs(ctx, w, o, round)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", w.name, o, err)
				}
				b.say("  %s round %d %s: %s", w.name, round+1, o, brief(f))
				theirs[i][o] = append(theirs[i][o], f)
			}
		}
		if round%2 == 1 {
			if err := mine(round); err != nil {
				return nil, err
			}
		}
	}
	for i := range group {
		rows = append(rows, rowsOf(&group[i], ours[i], theirs[i])...)
	}
	return rows, nil
}

// shared runs the workloads on networks that are made once per side and opponent.
func (b *bench) shared(ctx context.Context, list []workload) (rows []row, err error) {
	for _, o := range list[0].opponents {
		tree, err := newTree(ctx, list[0].hosts, list[0].parents)
		if err != nil {
			return nil, err
		}
		gossip, err := newGossip(ctx, list[0].hosts, rivals[o])
		if err != nil {
			tree.close()
			return nil, err
		}
		for i := range list {
			w := &list[i]
			var ours, theirs []Figures
			for round := 0; round < b.rounds && err == nil; round++ {
				var f Figures
				if f, err = run(ctx, tree, &w.load, b.profiles.next(w.name, ourSide, round)); err != nil {
					break
				}
				b.say("  %s round %d treecast: %s", w.name, round+1, brief(f))
				ours = append(ours, f)
				if f, err = run(ctx, gossip, rivalLoad(w, o), b.profiles.next(w.name, o, round)); err != nil {
					break
				}
				b.say("  %s round %d %s: %s", w.name, round+1, o, brief(f))
				theirs = append(theirs, f)
			}
			if err == nil {
				one := *w
				one.opponents = []string{o}
				rows = append(rows, rowsOf(&one, ours, map[string][]Figures{o: theirs})...)
			}
		}
		tree.close()
		gossip.close()
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}
