package main

import (
	"fmt"
	"strings"
)

// componentColours are those of a stacked bar, the check's in blue, the transport's in
// green, the rest in warm and grey tones.
var componentColours = [numComponents]string{
	"#1f6feb", "#79b8ff", "#0b3d91", "#9f7aea", "#22863a", "#5cb874", "#a8dba8", "#f6ad55", "#ed8936", "#d64545", "#f7c6c7", "#718096", "#a0aec0", "#e2e8f0", "#cbd5e0",
}

// stackChart is an SVG with one bar a side, as long as its CPU time of a delivery and
// cut by component. Where a time is not known, all are of one length.
func stackChart(title string, sides []sideShares) string {
	known, high := true, 0.0
	for _, s := range sides {
		known = known && s.us > 0
		high = max(high, s.us)
	}
	const (
		left, wide, barHigh, gap = 90, 560, 34, 12
		legendLine               = 16
	)
	var b strings.Builder
	y := titleHigh
	for _, s := range sides {
		length, label := float64(wide), "100 %"
		if known {
			length, label = wide*s.us/high, fmt.Sprintf("%.1f µs", s.us)
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-6, y+barHigh/2+4, escape(s.side))
		x := float64(left)
		for c := range numComponents {
			w := length * s.of[c]
			if w <= 0 {
				continue
			}
			fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s: %.1f %%</title></rect>`,
				x, y, w, barHigh, componentColours[c], escape(componentNames[c]), 100*s.of[c])
			x += w
		}
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", x+5, y+barHigh/2+4, label)
		y += barHigh + gap
	}
	y += gap
	for c := range numComponents {
		if !hasComponent(sides, c) {
			continue
		}
		text := componentNames[c]
		for _, s := range sides {
			if known {
				text += fmt.Sprintf(" · %s %.1f µs", s.side, s.us*s.of[c])
			} else {
				text += fmt.Sprintf(" · %s %.1f %%", s.side, 100*s.of[c])
			}
		}
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="11" height="11" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n",
			left, y, componentColours[c], left+17, y+10, escape(text))
		y += legendLine
	}
	what := "CPU time of a delivery by component: "
	if !known {
		what = "CPU time by component: "
	}
	return svg(what+title, y+12, b.String())
}

func hasComponent(sides []sideShares, c component) bool {
	for _, s := range sides {
		if s.of[c] > 0 {
			return true
		}
	}
	return false
}
