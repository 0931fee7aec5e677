package view

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"treecast/node/api"
)

// Lengths of the drawing, in pixels.
const (
	boxWidth  = 176
	boxHeight = 62
	gapAcross = 18
	gapDown   = 58
	margin    = 24
	heading   = 40 // of a cohort
	perRow    = 6  // boxes beside each other; more make another row
)

// svgStyle is for the classes of the drawing. No font, colour or script comes
// from elsewhere.
const svgStyle = `
  text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2933; }
  .id { font: 600 13px ui-monospace, monospace; }
  .head { font-size: 15px; font-weight: 600; }
  .soft { fill: #61707f; }
  .box { fill: #ffffff; stroke: #9aa7b4; }
  .broker { fill: #fdf3dc; stroke: #c9962b; }
  .self { fill: #e3f0ff; stroke: #2f6fb5; stroke-width: 2; }
  .leaf { stroke-dasharray: 4 3; }
  .edge { fill: none; stroke: #9aa7b4; stroke-width: 1.5; }
  .rail { fill: #e7ebef; }
  .fill { fill: #2f6fb5; }
  .full { fill: #c0392b; }
`

// SVG draws what a node sees of each of its cohorts: the parents above it, its
// children below, with how full their queues are. The drawing stands alone and
// follows from t to the last byte.
func SVG(w io.Writer, t *api.Tree) error {
	d := sketch{width: 2 * margin, y: margin}
	d.text(margin, d.y+14, "head", "node "+short(t.Overlay))
	d.y += heading
	if len(t.Cohorts) == 0 {
		d.text(margin, d.y, "soft", "no cohorts")
		d.y += heading
	}
	for i := range t.Cohorts {
		d.widen(&t.Cohorts[i])
	}
	for i := range t.Cohorts {
		d.cohort(t, &t.Cohorts[i])
	}
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">
<title>treecast node %s</title>
<style>%s</style>
<rect width="100%%" height="100%%" fill="#fbfcfd"/>
%s%s</svg>
`, d.width, d.y+margin, d.width, d.y+margin, escaped(short(t.Overlay)), svgStyle, d.edges.String(), d.boxes.String())
	return err
}

// sketch is an SVG being drawn from top to bottom. Edges lie below boxes.
type sketch struct {
	width, y     int
	edges, boxes strings.Builder
}

// A card is one box.
type card struct {
	class string
	lines [3]string
	queue float64 // share of a child's queue in use, 0..1; negative: none is shown
}

// widen makes the drawing wide enough for a cohort, and for its heading.
func (d *sketch) widen(c *api.Cohort) {
	across := max(min(max(len(c.Parents), len(c.Children)), perRow), 3)
	d.width = max(d.width, 2*margin+across*boxWidth+(across-1)*gapAcross)
}

func (d *sketch) cohort(t *api.Tree, c *api.Cohort) {
	d.text(margin, d.y+14, "head", "cohort "+short(c.Topic))
	d.text(margin+190, d.y+14, "soft", state(c))
	d.y += heading
	var parents, children []card
	for i := range c.Parents {
		p := &c.Parents[i]
		k := card{class: "box", queue: -1, lines: [3]string{
			short(p.Overlay), band(&p.Link) + rtt(&p.Link), fmt.Sprintf("first %d, second %d", p.First, p.Second),
		}}
		if p.Broker {
			k.class, k.lines[1] = "box broker", "the broker"+rtt(&p.Link)
		}
		parents = append(parents, k)
	}
	for i := range c.Children {
		k := &c.Children[i]
		class := "box"
		if !k.Relays {
			class = "box leaf"
		}
		children = append(children, card{class: class, queue: k.QueueFill, lines: [3]string{
			short(k.Overlay), band(&k.Link) + kind(k) + rtt(&k.Link), fmt.Sprintf("queue %d frames", k.QueueFrames),
		}})
	}
	class, place := "box self", fmt.Sprintf("band %d", c.Band)
	if c.Broker {
		class, place = "box self broker", "the broker"
	}
	self := card{class: class, queue: -1, lines: [3]string{
		short(t.Overlay), place + ", this node", fmt.Sprintf("%d of %d slots", len(c.Children), max(0, c.Capacity)),
	}}

	above := d.rows(parents)
	at := d.rows([]card{self})[0]
	for _, p := range above {
		d.edge(p, at)
	}
	for _, k := range d.rows(children) {
		d.edge(at, k)
	}
	d.y += margin - gapDown + margin
}

// rows draws cards in centred rows and returns where each box is: the middle of
// its upper side.
func (d *sketch) rows(cards []card) (at [][2]int) {
	for len(cards) > 0 {
		n := min(len(cards), perRow)
		x := (d.width - n*boxWidth - (n-1)*gapAcross) / 2
		for i := range n {
			d.card(x, d.y, &cards[i])
			at = append(at, [2]int{x + boxWidth/2, d.y})
			x += boxWidth + gapAcross
		}
		cards = cards[n:]
		d.y += boxHeight + gapDown
	}
	return at
}

func (d *sketch) card(x, y int, k *card) {
	fmt.Fprintf(&d.boxes, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+"\n", k.class, x, y, boxWidth, boxHeight)
	d.text(x+12, y+20, "id", k.lines[0])
	d.text(x+12, y+37, "", k.lines[1])
	d.text(x+12, y+52, "soft", k.lines[2])
	if k.queue < 0 {
		return
	}
	class := "fill"
	if k.queue > 0.5 { // from there on publications are held back
		class = "full"
	}
	const rail = boxHeight - 16
	fill := min(int(k.queue*rail+0.5), rail)
	fmt.Fprintf(&d.boxes, `<rect class="rail" x="%d" y="%d" width="6" height="%d" rx="3"/>`+"\n", x+boxWidth-16, y+8, rail)
	fmt.Fprintf(&d.boxes, `<rect class="%s" x="%d" y="%d" width="6" height="%d" rx="3"/>`+"\n", class, x+boxWidth-16, y+8+rail-fill, fill)
}

// edge joins the lower side of one box with the upper side of another.
func (d *sketch) edge(from, to [2]int) {
	y := from[1] + boxHeight
	bend := gapDown * 2 / 3
	fmt.Fprintf(&d.edges, `<path class="edge" d="M%d %d C%d %d %d %d %d %d"/>`+"\n",
		from[0], y, from[0], y+bend, to[0], to[1]-bend, to[0], to[1])
}

func (d *sketch) text(x, y int, class, s string) {
	fmt.Fprintf(&d.boxes, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, y, escaped(s))
}

// escaped is s as character data: a peer chooses none of it, a broken API might.
func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
