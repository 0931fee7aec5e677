package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"treecast/tree"
)

// curveRows are points of a curve with an opponent at all but the last.
func curveRows() (rows []row) {
	c := &curve{name: "cost-n", grows: "hosts"}
	for i, x := range []int{8, 16, 32} {
		r := row{
			Workload: "cost-n-x", Opponent: "tuned", curve: c, x: x,
			Treecast:  Figures{"msgs_per_s": float64(1000 / (i + 1)), "cpu_s_per_1000": 0.05, "wire_bytes_per_payload_byte": 2, "missing": 0},
			Gossipsub: Figures{"msgs_per_s": 100, "cpu_s_per_1000": 0.2, "wire_bytes_per_payload_byte": 3},
		}
		if i == 2 {
			r.Opponent, r.Gossipsub = nobody, nil
		}
		rows = append(rows, r)
	}
	return rows
}

// A curve has a table of its own, out of the table of loads, and a picture whose
// lines end where their points do.
func TestCurve(t *testing.T) {
	rows := append(curveRows(), sampleRows()...)
	var b strings.Builder
	table(&b, rows)
	for _, want := range []string{"hosts", "50.0", "200.0", "333"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "cost-n-x") {
		t.Errorf("a point of the curve is in another table too:\n%s", b.String())
	}
	dir := t.TempDir()
	if err := writeCurves(dir, rows); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "cost-n.svg"))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, string(data))
	picture := string(data)
	if n := strings.Count(picture, "<polyline"); n != 4 { // two panels of two lines
		t.Errorf("%d lines", n)
	}
	if n := strings.Count(picture, "<circle"); n != 10 {
		t.Errorf("%d points", n)
	}
	rows[1].Void = "too flat"
	if n := strings.Count(curveChart([]*row{&rows[0], &rows[1], &rows[2]}), "<circle"); n != 6 {
		t.Errorf("%d points where one of three is void", n)
	}
}

// A forest carries each message to all hosts, over one cohort after the other.
func TestForest(t *testing.T) {
	f, err := newForest(t.Context(), 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if err := push(t.Context(), f, 60); err != nil {
		t.Fatal(err)
	}
	for i, cohorts := range f.trees {
		for _, c := range cohorts[1:] {
			if n := c.Counters()[tree.CountDelivered]; n != 20 {
				t.Errorf("cohort %d: %d of 20 chunks", i, n)
			}
		}
	}
	if n := f.copies(); n < 180 {
		t.Errorf("%d copies of 60 chunks at three hosts", n)
	}
	if s := f.shape(); s["max_depth"] != 1 && s["max_depth"] != 2 || s["mean_parents"] < 1 {
		t.Errorf("shape %v", s)
	}
}

// The curves run when they are named, all else without a pattern too, and every job
// is expected to take some time.
func TestWanted(t *testing.T) {
	b := &bench{rounds: 3, times: times{2 * time.Second, 6 * time.Second}}
	all, err := b.wanted()
	if err != nil {
		t.Fatal(err)
	}
	var total time.Duration
	for _, j := range all {
		if j.extra || strings.HasPrefix(j.name, "cost-") {
			t.Errorf("%s runs without being named", j.name)
		}
		if j.expect <= 0 {
			t.Errorf("%s takes %v", j.name, j.expect)
		}
		total += j.expect
	}
	if total > time.Hour {
		t.Errorf("all takes %v, want at most an hour", total)
	}
	b.only = regexp.MustCompile("^cost-")
	named, err := b.wanted()
	if err != nil {
		t.Fatal(err)
	}
	if len(named) != len(curves) {
		t.Errorf("%d curves, want %d", len(named), len(curves))
	}
	b.only = regexp.MustCompile("no such")
	if _, err := b.all(context.Background(), false); err == nil {
		t.Error("a pattern that matches nothing is no error")
	}
	var out strings.Builder
	if err := b.listJobs(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"closed-4096-n32 ", "cost-n ", "with --only alone", "all without --only"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// What is left follows how long the work so far took.
func TestForecast(t *testing.T) {
	f := forecast{begin: time.Unix(0, 0), total: 100 * time.Second}
	if d := f.left(time.Unix(5, 0)); d != 100*time.Second {
		t.Errorf("at the start %v", d)
	}
	f.done = 20 * time.Second
	if d := f.left(time.Unix(40, 0)); d != 160*time.Second {
		t.Errorf("at half the speed %v", d)
	}
	for d, want := range map[time.Duration]string{0: "0 s", 12 * time.Second: "10 s", 58 * time.Second: "1 min 00 s", 125 * time.Second: "2 min 05 s"} {
		if got := about(d); got != want {
			t.Errorf("about(%v) = %s, want %s", d, got, want)
		}
	}
}
