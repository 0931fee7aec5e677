package view

import (
	"fmt"
	"io"
	"strings"

	"treecast/node/api"
)

// shortID is how many hexadecimal digits stand for an overlay.
const shortID = 12

func short(overlay string) string { return overlay[:min(len(overlay), shortID)] }

// Own prints what a node sees of each of its cohorts: parents, itself, and
// children with how full their queues are.
func Own(w io.Writer, t *api.Tree) error {
	var b strings.Builder
	fmt.Fprintf(&b, "node %s  peer %s\n", short(t.Overlay), t.PeerID)
	if len(t.Cohorts) == 0 {
		b.WriteString("no cohorts\n")
	}
	for i := range t.Cohorts {
		ownCohort(&b, t, &t.Cohorts[i])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func ownCohort(b *strings.Builder, t *api.Tree, c *api.Cohort) {
	fmt.Fprintf(b, "\ncohort %s  %s\n", name(c), state(c))
	for i, p := range c.Parents {
		branch := "├─ "
		if i == 0 {
			branch = "┌─ "
		}
		what := ""
		if p.Broker {
			what = "  the broker"
		}
		fmt.Fprintf(b, "  %sparent %s  %s%s  first %d  second %d%s\n",
			branch, short(p.Overlay), band(&p.Link), what, p.First, p.Second, rtt(&p.Link))
	}
	fmt.Fprintf(b, "  ● %s  band %d  %d/%d slots\n", short(t.Overlay), c.Band, len(c.Children), max(0, c.Capacity))
	for i, k := range c.Children {
		branch := "├─ "
		if i == len(c.Children)-1 {
			branch = "└─ "
		}
		fmt.Fprintf(b, "  %schild %s  %s  queue %.0f %% (%d frames)%s%s\n",
			branch, short(k.Overlay), band(&k.Link), 100*k.QueueFill, k.QueueFrames, kind(&k), rtt(&k.Link))
	}
}

// name is what a cohort is called: its topic, and the group of the BEEF plane that
// it carries.
func name(c *api.Cohort) string {
	if c.Group == "" {
		return short(c.Topic)
	}
	return short(c.Topic) + "  group " + c.Group
}

// state says in words where the node stands in the cohort.
func state(c *api.Cohort) string {
	var words []string
	switch {
	case c.Broker:
		words = append(words, "broker")
	case !c.Attached:
		words = append(words, "not attached")
	case !c.Settled:
		words = append(words, "attached, looking for another parent")
	default:
		words = append(words, "attached")
	}
	if !c.Pinned {
		words = append(words, "unpinned")
	}
	if c.Hold {
		words = append(words, "publications held back")
	}
	return strings.Join(words, ", ")
}

func band(l *api.Link) string {
	if l.Foreign {
		return "foreign"
	}
	if l.Band == 0 {
		return "band unknown" // it had none when it subscribed
	}
	return fmt.Sprintf("band %d", l.Band)
}

func kind(k *api.Child) string {
	switch {
	case !k.Relays:
		return "  leaf"
	case k.Childless:
		return "  childless"
	}
	return ""
}

func rtt(l *api.Link) string {
	if l.RTT == 0 {
		return ""
	}
	return fmt.Sprintf("  %.1f ms", l.RTT)
}

// Dot prints the same as a graph for Graphviz, with edges from parent to child.
func Dot(w io.Writer, t *api.Tree) error {
	var b strings.Builder
	b.WriteString("digraph treecast {\n  node [shape=box];\n")
	for i := range t.Cohorts {
		c := &t.Cohorts[i]
		// One node may stand in several cohorts: each has its own boxes.
		id := func(overlay string) string { return fmt.Sprintf("%q", short(c.Topic)+"/"+short(overlay)) }
		fmt.Fprintf(&b, "  subgraph %q {\n    label=%q;\n", "cluster_"+short(c.Topic), "cohort "+name(c))
		box := func(overlay, label, style string) {
			fmt.Fprintf(&b, "    %s [label=%q%s];\n", id(overlay), short(overlay)+"\n"+label, style)
		}
		box(t.Overlay, fmt.Sprintf("band %d, %d/%d", c.Band, len(c.Children), max(0, c.Capacity)), ", style=bold")
		for _, p := range c.Parents {
			box(p.Overlay, band(&p.Link), "")
			fmt.Fprintf(&b, "    %s -> %s;\n", id(p.Overlay), id(t.Overlay))
		}
		for _, k := range c.Children {
			box(k.Overlay, band(&k.Link)+kind(&k), "")
			fmt.Fprintf(&b, "    %s -> %s [label=%q];\n", id(t.Overlay), id(k.Overlay), fmt.Sprintf("%.0f %%", 100*k.QueueFill))
		}
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
