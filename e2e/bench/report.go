package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A row is one line of bench.json: medians over the rounds of both sides, and
// ratios ours / theirs.
type row struct {
	Workload  string             `json:"workload"`
	Opponent  string             `json:"opponent"`
	Rounds    int                `json:"rounds"`
	Treecast  Figures            `json:"treecast"`
	Gossipsub Figures            `json:"gossipsub,omitempty"`
	Beside    Figures            `json:"beside,omitempty"` // what is no gossipsub: a part measured by itself
	Ratio     map[string]float64 `json:"ratio"`
	// Of rows with a tree.
	MaxDepth    float64 `json:"max_depth,omitempty"`
	MeanParents float64 `json:"mean_parents,omitempty"`
	Copies      float64 `json:"copies,omitempty"`
	Void        string  `json:"void,omitempty"` // why it does not count
}

func rowsOf(w *workload, ours []Figures, theirs map[string][]Figures) (rows []row) {
	mine := medians(ours)
	why := ""
	for _, f := range ours {
		if s := void(w, f); s != "" {
			why = s
		}
	}
	for _, o := range w.opponents {
		his := medians(theirs[o])
		rows = append(rows, row{
			Workload: w.name, Opponent: o, Rounds: len(ours), Treecast: mine, Gossipsub: his, Ratio: ratios(mine, his),
			MaxDepth: mine["max_depth"], MeanParents: mine["mean_parents"], Copies: mine["copies"], Void: why,
		})
	}
	return rows
}

// brief is one side's figures in a line.
func brief(f Figures) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f msg/s, %.3f CPU s per 1000, %.2f copies, wire %.2f, p50 %.1f p99 %.1f ms, CPU %.0f %%, missing %.0f, gap %.0f ms, %.0f MiB",
		f["msgs_per_s"], f["cpu_s_per_1000"], f["copies"], f["wire_bytes_per_payload_byte"], f["p50_ms"], f["p99_ms"],
		100*f["cpu_share"], f["missing"], f["longest_gap_ms"], f["peak_rss_mib"])
	if d, ok := f["max_depth"]; ok {
		fmt.Fprintf(&b, ", depth %.0f, parents %.2f, dual %.0f %%", d, f["mean_parents"], 100*f["dual_parented"])
	}
	return b.String()
}

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

// isRun says whether a row is a load on a network, which the first table shows.
func (r *row) isRun() bool { _, ok := r.Treecast["msgs_per_s"]; return ok }

// table prints all rows: first the loads, then the others with their own figures.
func table(out io.Writer, rows []row) {
	header := []string{"workload", "side"}
	for _, c := range columns {
		header = append(header, c.head)
	}
	lines := [][]string{append(header, "depth/parents")}
	side := func(first, name string, f Figures) []string {
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
	last := ""
	for i := range rows {
		r := &rows[i]
		if !r.isRun() {
			continue
		}
		if r.Workload != last {
			lines = append(lines, side(r.Workload, "treecast", r.Treecast))
			last = r.Workload
		}
		lines = append(lines, side("", r.Opponent, r.Gossipsub))
		cells := make([]string, len(lines[0]))
		cells[1] = "  ratio"
		for _, n := range ratioNames {
			at := 2 + slices.IndexFunc(columns, func(c struct{ figure, head, format string }) bool { return c.figure == n.figure })
			if v, ok := r.Ratio[n.name]; ok {
				cells[at] = fmt.Sprintf("%.2f×", v)
			}
		}
		if r.Void != "" {
			cells[len(cells)-1] = "VOID: " + r.Void
		}
		lines = append(lines, cells)
	}
	if len(lines) > 1 {
		align(out, lines)
	}
	for i := range rows {
		if r := &rows[i]; !r.isRun() {
			fmt.Fprintf(out, "\n%s (%s, %d rounds)\n", r.Workload, r.Opponent, r.Rounds)
			for _, s := range []struct {
				name string
				f    Figures
			}{{"treecast", r.Treecast}, {"gossipsub", r.Gossipsub}, {"beside", r.Beside}, {"ratio", r.Ratio}} {
				for _, name := range sortedNames(s.f) {
					fmt.Fprintf(out, "  %-10s %-40s %.6g\n", s.name, name, s.f[name])
				}
			}
		}
	}
}

func sortedNames(f map[string]float64) []string {
	names := make([]string, 0, len(f))
	for name := range f {
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

// writeJSON writes bench.json to a folder.
func writeJSON(dir string, rows []row) error {
	data, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return fmt.Errorf("bench: bench.json: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bench.json"), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}
