package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"treecast/wire"
)

// Node is one node of a network that is known whole.
type Node struct {
	Name     string
	Overlay  wire.Overlay
	Band     uint32 // 0 = not placed
	Capacity int    // child slots; 0 = never relays
	Children int
	Parents  []wire.Overlay
	Note     string // shown behind the node
}

// rank orders nodes as the protocol does (PROTOCOL §5 Rank).
func rank(a, b *Node) int {
	return cmp.Or(cmp.Compare(a.Band, b.Band), slices.Compare(a.Overlay[:], b.Overlay[:]))
}

// Draw prints the network as a tree: each node once, below the lowest-ranked of
// its parents, with the others named behind it. A node without a parent among
// nodes starts a tree of its own. The order is that of the ranks.
func Draw(w io.Writer, nodes []Node) error {
	d := drawing{byOverlay: make(map[wire.Overlay]*Node), below: make(map[wire.Overlay][]*Node)}
	for i := range nodes {
		d.byOverlay[nodes[i].Overlay] = &nodes[i]
	}
	var roots []*Node
	for i := range nodes {
		n := &nodes[i]
		if p := d.first(n); p != nil {
			d.below[p.Overlay] = append(d.below[p.Overlay], n)
		} else {
			roots = append(roots, n)
		}
	}
	slices.SortFunc(roots, func(a, b *Node) int {
		// The root first, what is not placed last.
		return cmp.Or(cmp.Compare(a.Band-1, b.Band-1), rank(a, b))
	})
	for _, list := range d.below {
		slices.SortFunc(list, rank)
	}
	for _, n := range roots {
		d.line("", n)
		d.children("", n)
	}
	_, err := io.WriteString(w, d.text.String())
	return err
}

type drawing struct {
	byOverlay map[wire.Overlay]*Node
	below     map[wire.Overlay][]*Node
	text      strings.Builder
}

// first is the parent under which n is drawn. Parents rank below their children,
// so following it never turns in a circle; one that does not, in a view taken
// while the tree changed, is left out.
func (d *drawing) first(n *Node) (best *Node) {
	for _, o := range n.Parents {
		p := d.byOverlay[o]
		if p != nil && rank(p, n) < 0 && (best == nil || rank(p, best) < 0) {
			best = p
		}
	}
	return best
}

func (d *drawing) children(indent string, n *Node) {
	list := d.below[n.Overlay]
	for i, c := range list {
		branch, below := "├─ ", "│  "
		if i == len(list)-1 {
			branch, below = "└─ ", "   "
		}
		d.line(indent+branch, c)
		d.children(indent+below, c)
	}
}

func (d *drawing) line(indent string, n *Node) {
	d.text.WriteString(indent + n.Name)
	if n.Capacity > 0 {
		fmt.Fprintf(&d.text, "  %d/%d", n.Children, n.Capacity)
	}
	drawnUnder := d.first(n)
	for _, o := range n.Parents {
		if p := d.byOverlay[o]; p != nil && p != drawnUnder {
			fmt.Fprintf(&d.text, "  + %s", p.Name)
		}
	}
	if n.Note != "" {
		fmt.Fprintf(&d.text, "  (%s)", n.Note)
	}
	d.text.WriteByte('\n')
}
