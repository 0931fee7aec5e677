package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// curveFigures are the columns of a curve's table; those with a title are drawn.
var curveFigures = []struct {
	figure, head, format string
	factor               float64
	title                string
}{
	{"msgs_per_s", "msg/s", "%.0f", 1, ""},
	{"cpu_s_per_1000", "µs CPU a delivery", "%.1f", 1000, "CPU time of a delivery, µs"},
	{"cpu_us_per_chunk", "µs CPU a chunk", "%.1f", 1, "CPU time of a chunk at the relay, µs"},
	{"chunks_per_write", "chunks a write", "%.1f", 1, ""},
	{"messages_per_write", "messages a write", "%.1f", 1, ""},
	{"copies", "copies", "%.2f", 1, ""},
	{"wire_bytes_per_payload_byte", "wire", "%.2f", 1, "Bytes on the streams per payload byte"},
	{"p50_ms", "p50 ms", "%.1f", 1, ""},
	{"p99_ms", "p99 ms", "%.1f", 1, ""},
	{"missing", "missing", "%.0f", 1, ""},
	{"max_depth", "depth", "%.0f", 1, ""},
}

// byCurve are the rows of each curve that there are some of, in order of x.
func byCurve(rows []row) (names []string, of map[string][]*row) {
	of = map[string][]*row{}
	for i := range rows {
		if c := rows[i].curve; c != nil {
			if of[c.name] == nil {
				names = append(names, c.name)
			}
			of[c.name] = append(of[c.name], &rows[i])
		}
	}
	return names, of
}

// curveTables print a small table for each curve.
func curveTables(out io.Writer, rows []row) {
	names, of := byCurve(rows)
	for _, name := range names {
		list := of[name]
		head := []string{name, "side", list[0].curve.grows}
		var shown []int
		for i, f := range curveFigures {
			if _, ok := list[0].Treecast[f.figure]; ok {
				head, shown = append(head, f.head), append(shown, i)
			}
		}
		lines := [][]string{append(head, "")}
		for _, r := range list {
			for _, s := range r.sides() {
				l := []string{"", s.name, fmt.Sprint(r.x)}
				for _, i := range shown {
					f := curveFigures[i]
					cell := "-"
					if v, ok := s.figures[f.figure]; ok {
						cell = fmt.Sprintf(f.format, v*f.factor)
					}
					l = append(l, cell)
				}
				why := ""
				if r.Void != "" && s.name == ourSide {
					why = "VOID: " + r.Void
				}
				lines = append(lines, append(l, why))
			}
		}
		fmt.Fprintln(out)
		align(out, lines)
	}
}

// A namedSide is one side's figures of a row.
type namedSide struct {
	name    string
	figures Figures
}

func (r *row) sides() []namedSide {
	list := []namedSide{{ourSide, r.Treecast}}
	if r.Opponent != nobody {
		list = append(list, namedSide{r.Opponent, r.Gossipsub})
	}
	return list
}

// writeCurves draws each curve to a file of its name.
func writeCurves(dir string, rows []row) error {
	names, of := byCurve(rows)
	for _, name := range names {
		file := filepath.Join(dir, name+".svg")
		if err := os.WriteFile(file, []byte(curveChart(of[name])), 0o644); err != nil {
			return fmt.Errorf("bench: plot: %w", err)
		}
	}
	return nil
}

// curveChart is an SVG with a panel for each figure that is drawn.
func curveChart(list []*row) string {
	const panelHigh = 220
	var b strings.Builder
	y := titleHigh
	for _, f := range curveFigures {
		if _, ok := list[0].Treecast[f.figure]; !ok || f.title == "" {
			continue
		}
		lines := map[string][]point{}
		for _, r := range list {
			if r.Void != "" {
				continue
			}
			for _, s := range r.sides() {
				if v, ok := s.figures[f.figure]; ok {
					lines[s.name] = append(lines[s.name], point{r.x, v * f.factor})
				}
			}
		}
		panel(&b, y, panelHigh, f.title, f.format, xsOf(list), lines)
		y += panelHigh
	}
	c := list[0].curve
	return svg(c.name+": by "+c.grows, y+12, b.String())
}

// A point is one value of a line, at one of the curve's xs.
type point struct {
	x int
	y float64
}

func xsOf(list []*row) (xs []int) {
	for _, r := range list {
		if len(xs) == 0 || xs[len(xs)-1] != r.x {
			xs = append(xs, r.x)
		}
	}
	return xs
}

// panel draws lines over xs, which stand at equal distances as each is about a
// multiple of the one before; values begin at 0.
func panel(b *strings.Builder, top, high int, title, format string, xs []int, lines map[string][]point) {
	const left, wide = 70, chartWide - 70 - 130
	bottom := float64(top + high - 36)
	tall := bottom - float64(top) - 40 // the highest value has its number above it
	most := 0.0
	for _, l := range lines {
		for _, p := range l {
			most = max(most, p.y)
		}
	}
	at := func(x int) float64 {
		for i, v := range xs {
			if v == x {
				return left + wide*(float64(i)+0.5)/float64(len(xs))
			}
		}
		return left
	}
	height := func(v float64) float64 {
		if most == 0 {
			return bottom
		}
		return bottom - tall*v/most
	}
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`, left, top+12, escape(title))
	fmt.Fprintf(b, `<path d="M%d %.1f V%.1f H%d" fill="none" stroke="#57606a"/>`+"\n", left, bottom-tall, bottom, left+wide)
	for _, x := range xs {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`, at(x), bottom+16, x)
	}
	for _, name := range sortedKeys(lines) {
		colour := "#9aa5b1"
		if name == ourSide {
			colour = "#1f6feb"
		}
		var path []string
		for _, p := range lines[name] {
			path = append(path, fmt.Sprintf("%.1f,%.1f", at(p.x), height(p.y)))
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, at(p.x), height(p.y), colour)
			fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="%s">`+format+`</text>`, at(p.x), height(p.y)-6, colour, p.y)
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`, strings.Join(path, " "), colour)
		last := lines[name][len(lines[name])-1]
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n", at(last.x)+24, height(last.y)+4, colour, escape(name))
	}
}
