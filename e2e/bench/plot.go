package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// plots are the pictures beside bench.json: one figure of all rows of a kind.
var plots = []struct{ file, title, prefix, figure, unit string }{
	{"goodput.svg", "Messages per second to each subscriber, closed loop of 64", "closed-", "msgs_per_s", "msg/s"},
	{"cpu.svg", "CPU seconds per 1000 deliveries, closed loop of 64", "closed-", "cpu_s_per_1000", "s"},
	{"wire.svg", "Bytes on the streams per payload byte, closed loop of 64", "closed-", "wire_bytes_per_payload_byte", ""},
	{"latency.svg", "p99 at a fixed rate, milliseconds", "rate-", "p99_ms", "ms"},
	{"codec.svg", "CPU time of one operation, nanoseconds", "codec-", "cpu_ns_per_op", "ns"},
	{"check.svg", "CPU time of one chunk check, nanoseconds", "check-", "cpu_ns_per_op", "ns"},
}

// A bar is one value of a plot.
type bar struct {
	group, name string
	value       float64
}

// writePlots draws what there are rows for.
func writePlots(dir string, rows []row) error {
	for _, p := range plots {
		var bars []bar
		for i := range rows {
			r := &rows[i]
			if !strings.HasPrefix(r.Workload, p.prefix) || r.Void != "" || r.Opponent == "whole" {
				continue
			}
			if v, ok := r.Treecast[p.figure]; ok && !slices.ContainsFunc(bars, func(b bar) bool { return b.group == r.Workload }) {
				bars = append(bars, bar{r.Workload, "treecast", v})
			}
			for _, f := range []Figures{r.Gossipsub, r.Beside} {
				if v, ok := f[p.figure]; ok {
					bars = append(bars, bar{r.Workload, r.Opponent, v})
				}
			}
		}
		if len(bars) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, p.file), []byte(barChart(p.title, p.unit, bars)), 0o644); err != nil {
			return fmt.Errorf("bench: plot: %w", err)
		}
	}
	return nil
}

// Sizes of a chart in pixels.
const (
	barHeight = 15
	groupGap  = 9
	textLeft  = 300 // width of the names
	barsWide  = 420
	chartWide = textLeft + barsWide + 110
	titleHigh = 40
)

// barChart is an SVG with one bar a value, those of a group together. The scale is
// logarithmic when the values span more than a factor of 50, and says so.
func barChart(title, unit string, bars []bar) string {
	low, high := math.Inf(1), 0.0
	for _, b := range bars {
		if b.value > 0 {
			low, high = min(low, b.value), max(high, b.value)
		}
	}
	logarithmic := high > 50*low
	if logarithmic {
		title += " (logarithmic)"
	}
	width := func(v float64) float64 {
		switch {
		case v <= 0 || high == 0:
			return 0
		case logarithmic:
			return barsWide * (math.Log(v/low) + 1) / (math.Log(high/low) + 1)
		}
		return barsWide * v / high
	}
	var b strings.Builder
	y := titleHigh
	last := ""
	for _, x := range bars {
		if x.group != last && last != "" {
			y += groupGap
		}
		colour := "#9aa5b1"
		if x.name == "treecast" {
			colour = "#1f6feb"
		}
		label := x.name
		if x.group != last {
			label = x.group + " · " + x.name
		}
		last = x.group
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, textLeft-6, y+barHeight-4, escape(label))
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, textLeft, y+1, width(x.value), barHeight-3, colour)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", textLeft+width(x.value)+5, y+barHeight-4, escape(strings.TrimSpace(fmt.Sprintf("%.4g %s", x.value, unit))))
		y += barHeight
	}
	return svg(title, y+12, b.String())
}

// svg is a picture of one width, with a title.
func svg(title string, high int, body string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">
<rect width="100%%" height="100%%" fill="#fff"/>
<text x="12" y="24" font-size="14" font-weight="bold">%s</text>
%s</svg>
`, chartWide, high, chartWide, high, escape(title), body)
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
