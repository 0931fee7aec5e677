package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The verdicts on a claim.
const (
	verdictMet    = "met"
	verdictMissed = "missed"
	verdictNotRun = "not run"
)

// minRounds is of how many rounds a median is at least that a claim may rest on;
// rows that are one long run say so in their own way.
const minRounds = 3

// A claim is one threshold that a row decides.
type claim struct {
	what               string
	workload, opponent string
	figure             figureOf
	atLeast            bool // else at most
	want               float64
}

// A figureOf takes a claim's figure out of its row; false: the row lacks it. other
// finds our side of another workload's row.
type figureOf func(r *row, other func(workload string) Figures) (float64, bool)

// A decision is what a run says of a claim: an element of verdict.json.
type decision struct {
	What     string   `json:"what"`
	Workload string   `json:"workload"`
	Opponent string   `json:"opponent"`
	Value    *float64 `json:"value,omitempty"`
	AtLeast  *float64 `json:"at_least,omitempty"`
	AtMost   *float64 `json:"at_most,omitempty"`
	Verdict  string   `json:"verdict"`        // met, missed or not run
	Note     string   `json:"note,omitempty"` // why, or what weakens it
}

// decide judges all claims by the rows of a run.
func decide(claims []claim, rows []row) []decision {
	find := func(workload, opponent string) *row {
		for i := range rows {
			if rows[i].Workload == workload && (opponent == "" || rows[i].Opponent == opponent) {
				return &rows[i]
			}
		}
		return nil
	}
	ours := func(workload string) Figures {
		if r := find(workload, ""); r != nil {
			return r.Treecast
		}
		return nil
	}
	list := make([]decision, 0, len(claims))
	for i := range claims {
		c := &claims[i]
		list = append(list, c.decide(find(c.workload, c.opponent), ours))
	}
	return list
}

func (c *claim) decide(r *row, other func(string) Figures) decision {
	d := decision{What: c.what, Workload: c.workload, Opponent: c.opponent, Verdict: verdictNotRun}
	want := c.want
	if c.atLeast {
		d.AtLeast = &want
	} else {
		d.AtMost = &want
	}
	if r == nil {
		return d
	}
	v, ok := c.figure(r, other)
	if !ok || math.IsNaN(v) {
		d.Note = "the run lacks what it is made of"
		return d
	}
	d.Value = &v
	met := c.atLeast && v >= want || !c.atLeast && v <= want
	d.Verdict = verdictMissed
	switch {
	case r.Void != "": // a row that does not count meets nothing
		d.Note = "void: " + r.Void
	case met:
		d.Verdict = verdictMet
	}
	if r.Rounds < minRounds && r.Workload != idleName && r.Workload != joinName {
		d.Note = joinNotes(d.Note, fmt.Sprintf("of %d rounds, want %d", r.Rounds, minRounds))
	}
	return d
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// missed counts the claims that the run refutes.
func missed(list []decision) (n int) {
	for i := range list {
		if list[i].Verdict == verdictMissed {
			n++
		}
	}
	return n
}

// verdictTable prints what was decided, how many decisions there are of each kind,
// and the workloads without which the rest stays open; nothing of a run that decides
// nothing.
func verdictTable(out io.Writer, list []decision) {
	lines := [][]string{{"threshold", "workload", "beside", "value", "want", "verdict"}}
	count := map[string]int{}
	var open []string
	for i := range list {
		d := &list[i]
		count[d.Verdict]++
		if d.Verdict == verdictNotRun && d.Note == "" {
			if !slices.Contains(open, d.Workload) {
				open = append(open, d.Workload)
			}
			continue
		}
		value, want := "-", ""
		if d.Value != nil {
			value = fmt.Sprintf("%.4g", *d.Value)
		}
		switch {
		case d.AtLeast != nil:
			want = fmt.Sprintf("≥ %.4g", *d.AtLeast)
		case d.AtMost != nil:
			want = fmt.Sprintf("≤ %.4g", *d.AtMost)
		}
		verdict := d.Verdict
		if d.Note != "" {
			verdict += " (" + d.Note + ")"
		}
		lines = append(lines, []string{d.What, d.Workload, d.Opponent, value, want, verdict})
	}
	if len(lines) == 1 {
		return
	}
	fmt.Fprintln(out)
	align(out, lines)
	fmt.Fprintf(out, "\nthresholds: %d met, %d missed, %d not run\n", count[verdictMet], count[verdictMissed], count[verdictNotRun])
	if len(open) > 0 {
		fmt.Fprintf(out, "not run: %s\n", strings.Join(open, ", "))
	}
}

// writeVerdicts writes verdict.json to a folder, beside bench.json.
func writeVerdicts(dir string, list []decision) error {
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("bench: verdict.json: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "verdict.json"), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	return nil
}
