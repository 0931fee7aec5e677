package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A claim is met at its bound, missed beyond it or on a void row, and not run
// without a row or its figure.
func TestDecide(t *testing.T) {
	good := row{
		Workload: "w", Opponent: "o", Rounds: 3, Treecast: Figures{"a": 2, "g": 6}, Gossipsub: Figures{"g": 4, "z": 0},
		Ratio: map[string]float64{"cpu": 0.33},
	}
	void := good
	void.Opponent, void.Void = "void", "too flat"
	few := good
	few.Opponent, few.Rounds = "few", 1
	base := row{Workload: "base", Opponent: "x", Rounds: 3, Treecast: Figures{"a": 4}}
	rows := []row{base, good, void, few}
	for _, c := range []struct {
		claim   claim
		verdict string
		value   float64
		note    string
	}{
		{claim{"at its bound", "w", "o", ratioOf("cpu"), false, 0.33}, verdictMet, 0.33, ""},
		{claim{"above", "w", "o", ratioOf("cpu"), false, 0.32}, verdictMissed, 0.33, ""},
		{claim{"below", "w", "o", ours("a"), true, 2.1}, verdictMissed, 2, ""},
		{claim{"enough", "w", "o", ours("a"), true, 2}, verdictMet, 2, ""},
		{claim{"over theirs", "w", "o", overTheirs("g"), false, 1}, verdictMissed, 1.5, ""},
		{claim{"over ours", "w", "o", overOurs("a", "base"), true, 0.5}, verdictMet, 0.5, ""},
		{claim{"void", "w", "void", ours("a"), true, 1}, verdictMissed, 2, "void: too flat"},
		{claim{"few", "w", "few", ours("a"), true, 1}, verdictMet, 2, "of 1 rounds"},
		{claim{"no such row", "w", "p", ours("a"), true, 1}, verdictNotRun, 0, ""},
		{claim{"no such figure", "w", "o", ours("b"), true, 1}, verdictNotRun, 0, "lacks"},
		{claim{"nothing beside", "w", "o", overTheirs("a"), true, 1}, verdictNotRun, 0, "lacks"},
		{claim{"no other", "w", "o", overOurs("a", "none"), true, 1}, verdictNotRun, 0, "lacks"},
	} {
		d := decide([]claim{c.claim}, rows)[0]
		if d.Verdict != c.verdict || !strings.Contains(d.Note, c.note) || (c.note == "" && d.Note != "") {
			t.Errorf("%s: %+v", c.claim.what, d)
		}
		if (d.Value != nil) != (c.value != 0) || d.Value != nil && *d.Value != c.value {
			t.Errorf("%s: value %v, want %v", c.claim.what, d.Value, c.value)
		}
	}
}

// All claims are on rows that exist, of opponents that they have.
func TestClaims(t *testing.T) {
	b := &bench{rounds: 3, times: times{time.Second, time.Second}}
	jobs, err := b.jobs()
	if err != nil {
		t.Fatal(err)
	}
	opponents := map[string]map[string]bool{relayName: {"parts": true}, idleName: {"tuned": true}, joinName: {"two-dials": true}}
	for _, w := range workloads(b.times) {
		opponents[w.name] = map[string]bool{}
		for _, o := range w.opponents {
			opponents[w.name][o] = true
		}
	}
	small, err := micros()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range small {
		opponents[m.name] = map[string]bool{m.opponent: true}
	}
	known := map[string]bool{}
	for _, j := range jobs {
		for _, name := range append(j.with, j.name) {
			known[name] = true
		}
	}
	for _, c := range theClaims() {
		if !known[c.workload] || !opponents[c.workload][c.opponent] {
			t.Errorf("%s: no row %s beside %s", c.what, c.workload, c.opponent)
		}
	}
}

func TestVerdictTable(t *testing.T) {
	list := decide(theClaims(), sampleRows())
	var b strings.Builder
	verdictTable(&b, list)
	for _, want := range []string{"goodput ratio", "≥ 5.5", "≤ 0.33", "missed", "not run: closed-512-n32, closed-4096-n64", " met, "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	var none strings.Builder
	if verdictTable(&none, decide(theClaims(), nil)); none.Len() > 0 {
		t.Errorf("a run that decides nothing prints\n%s", none.String())
	}
	// Of the samples' figures nothing is missing and one ratio of 3 is at its bound.
	if n := missed(list); n == 0 || n == len(list) {
		t.Errorf("%d of %d missed", n, len(list))
	}
	dir := t.TempDir()
	if err := writeVerdicts(dir, list); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back []struct {
		What, Workload, Opponent, Verdict string
		Value                             *float64
		AtLeast                           *float64 `json:"at_least"`
		AtMost                            *float64 `json:"at_most"`
	}
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if len(back) != len(list) {
		t.Fatalf("%d decisions, want %d", len(back), len(list))
	}
	for i := range back {
		if d := &back[i]; (d.AtLeast == nil) == (d.AtMost == nil) || (d.Value == nil) != (d.Verdict == verdictNotRun) {
			t.Errorf("decision %+v", d)
		}
	}
}
