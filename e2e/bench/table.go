package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// columns are the figures of the table of runs, in order.
var columns = []struct{ figure, head, format string }{
	{"goodput_bytes_per_s", "MB/s", "%.2f"},
	{"msgs_per_s", "msg/s", "%.0f"},
	{"missing", "missing", "%.0f"},
	{"copies", "copies", "%.2f"},
	{"wire_bytes_per_payload_byte", "wire", "%.2f"},
	{"device_bytes_per_payload_byte", "device", "%.2f"},
	{"cpu_s_per_1000", "cpu/1000", "%.4f"},
	{"p50_ms", "p50 ms", "%.1f"},
	{"p99_ms", "p99 ms", "%.1f"},
	{"longest_gap_ms", "gap ms", "%.0f"},
	{"peak_rss_mib", "RSS MiB", "%.0f"},
	{"allocs_per_delivery", "allocs", "%.1f"},
}

// isRun says whether a row is a load on a network, which the first table shows unless
// it is a point of a curve.
func (r *row) isRun() bool { _, ok := r.Treecast["missing"]; return ok && r.curve == nil }

// isMicro says whether a row is a piece of code, which the second table shows.
func (r *row) isMicro() bool { _, ok := r.Treecast["ns_per_op"]; return ok }

// table prints all rows: the loads, the pieces of code, the curves, and what has
// figures of its own.
func table(out io.Writer, rows []row) {
	runTable(out, rows)
	microTable(out, rows)
	curveTables(out, rows)
	for i := range rows {
		r := &rows[i]
		if r.isRun() || r.isMicro() || r.curve != nil {
			continue
		}
		fmt.Fprintf(out, "\n%s (beside %s, %d rounds)\n", r.Workload, r.Opponent, r.Rounds)
		for _, s := range []struct {
			name string
			f    Figures
		}{{"treecast", r.Treecast}, {"gossipsub", r.Gossipsub}, {"beside", r.Beside}, {"ratio", r.Ratio}} {
			for _, name := range sortedKeys(s.f) {
				fmt.Fprintf(out, "  %-10s %-28s %.5g\n", s.name, name, s.f[name])
			}
		}
		if r.Void != "" {
			fmt.Fprintf(out, "  VOID: %s\n", r.Void)
		}
	}
}

// runTable prints the loads: our side once, each opponent below it with the
// ratios ours / theirs.
func runTable(out io.Writer, rows []row) {
	header := []string{"workload", "side"}
	for _, c := range columns {
		header = append(header, c.head)
	}
	lines := [][]string{append(header, "depth/parents")}
	last := ""
	for i := range rows {
		r := &rows[i]
		if !r.isRun() {
			continue
		}
		if r.Workload != last {
			lines = append(lines, sideLine(r.Workload, "treecast", r.Treecast))
			last = r.Workload
		}
		lines = append(lines, sideLine("", r.Opponent, r.Gossipsub), ratioLine(r))
	}
	if len(lines) > 1 {
		align(out, lines)
	}
}

func sideLine(first, name string, f Figures) []string {
	l := []string{first, name}
	for _, c := range columns {
		v, ok := f[c.figure]
		if !ok {
			l = append(l, "-")
			continue
		}
		if c.figure == "goodput_bytes_per_s" {
			v /= 1e6
		}
		l = append(l, fmt.Sprintf(c.format, v))
	}
	if d, ok := f["max_depth"]; ok {
		return append(l, fmt.Sprintf("%.0f/%.2f", d, f["mean_parents"]))
	}
	return append(l, "")
}

func ratioLine(r *row) []string {
	l := make([]string, len(columns)+3)
	l[1] = "  ratio"
	for i, c := range columns {
		for _, n := range ratioNames {
			if v, ok := r.Ratio[n.name]; ok && (n.figure == c.figure || n.name == "cpu" && c.figure == "cpu_s_per_1000") {
				l[2+i] = fmt.Sprintf("%.2f×", v)
			}
		}
	}
	if r.Void != "" {
		l[len(l)-1] = "VOID: " + r.Void
	}
	return l
}

func microTable(out io.Writer, rows []row) {
	lines := [][]string{{"piece of code", "beside", "CPU ns/op", "B/op", "allocs/op", "beside ns", "ratio", ""}}
	for i := range rows {
		r := &rows[i]
		if r.isMicro() {
			t := r.Treecast
			lines = append(lines, []string{
				r.Workload, r.Opponent, fmt.Sprintf("%.0f", t["cpu_ns_per_op"]), fmt.Sprintf("%.0f", t["b_per_op"]), fmt.Sprintf("%.0f", t["allocs_per_op"]),
				fmt.Sprintf("%.0f", r.Beside["cpu_ns_per_op"]), fmt.Sprintf("%.3f×", r.Ratio["cpu"]), "",
			})
		}
	}
	if len(lines) > 1 {
		fmt.Fprintln(out)
		align(out, lines)
	}
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// align prints cells in columns, the first two to the left.
func align(out io.Writer, lines [][]string) {
	width := make([]int, len(lines[0]))
	for _, l := range lines {
		for i, c := range l[:len(l)-1] {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	for _, l := range lines {
		var b strings.Builder
		for i, c := range l {
			pad := strings.Repeat(" ", max(0, width[i]-len([]rune(c))))
			switch {
			case i < 2:
				b.WriteString(c + pad + "  ")
			case i == len(l)-1:
				b.WriteString(c)
			default:
				b.WriteString(pad + c + "  ")
			}
		}
		fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
	}
}
