package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

	curve *curve // that it is a point of, at x; nil of most
	x     int
}

// nobody is the opponent of a row that has nothing beside it.
const nobody = "none"

func rowsOf(w *workload, ours []Figures, theirs map[string][]Figures) (rows []row) {
	mine := medians(ours)
	why := ""
	for _, f := range ours {
		if s := void(w, f); s != "" {
			why = s
		}
	}
	if len(w.opponents) == 0 {
		alone := aloneRow(w.name, ours)
		alone.MaxDepth, alone.MeanParents, alone.Copies, alone.Void = mine["max_depth"], mine["mean_parents"], mine["copies"], why
		return []row{alone}
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
