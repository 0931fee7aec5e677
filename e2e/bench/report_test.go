package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func sampleRows() []row {
	w := workload{name: "closed-4096-n32", hosts: 32, parents: 2, opponents: []string{"tuned", "default"}}
	our := func(goodput float64) Figures {
		return Figures{
			"goodput_bytes_per_s": goodput, "msgs_per_s": goodput / 4096, "missing": 0, "cpu_s_per_1000": 0.1, "cpu_s_per_payload_mb": 0.025,
			"wire_bytes_per_payload_byte": 2, "p50_ms": 2, "p99_ms": 6, "max_depth": 2, "mean_parents": 1.97, "copies": 1.9, "dual_parented": 1,
		}
	}
	their := Figures{
		"goodput_bytes_per_s": 1e6, "msgs_per_s": 244, "missing": 3, "cpu_s_per_1000": 0.3, "cpu_s_per_payload_mb": 0.075,
		"wire_bytes_per_payload_byte": 2.5, "p50_ms": 4, "p99_ms": 12, "copies": 2.4,
	}
	return rowsOf(&w, []Figures{our(1e6), our(9e6), our(3e6)}, map[string][]Figures{"tuned": {their, their, their}, "default": {their}})
}

// The shape of bench.json is what other programs read.
func TestJSON(t *testing.T) {
	dir := t.TempDir()
	if err := writeJSON(dir, sampleRows()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "bench.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Workload    string
		Opponent    string
		Rounds      int
		Treecast    map[string]float64
		Gossipsub   map[string]float64
		Ratio       map[string]float64
		MaxDepth    float64 `json:"max_depth"`
		MeanParents float64 `json:"mean_parents"`
		Copies      float64
		Void        *string
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Opponent != "tuned" || rows[1].Opponent != "default" {
		t.Fatalf("rows %+v", rows)
	}
	r := rows[0]
	if r.Workload != "closed-4096-n32" || r.Rounds != 3 || r.MaxDepth != 2 || r.MeanParents != 1.97 || r.Copies != 1.9 || r.Void != nil {
		t.Errorf("row %+v", r)
	}
	if r.Treecast["goodput_bytes_per_s"] != 3e6 || r.Gossipsub["missing"] != 3 {
		t.Errorf("medians %v, %v", r.Treecast, r.Gossipsub)
	}
	want := map[string]float64{"goodput": 3, "cpu": 1. / 3, "wire": 0.8, "p50": 0.5, "p99": 0.5}
	for name, v := range want {
		if d := r.Ratio[name] - v; d > 1e-9 || d < -1e-9 {
			t.Errorf("ratio %s = %v, want %v", name, r.Ratio[name], v)
		}
	}
	if len(r.Ratio) != len(want) {
		t.Errorf("ratios %v", r.Ratio)
	}
}

func TestTable(t *testing.T) {
	rows := append(sampleRows(),
		row{Workload: "check-64B", Opponent: "recover", Treecast: Figures{"ns_per_op": 5, "cpu_ns_per_op": 6}, Beside: Figures{"cpu_ns_per_op": 4}, Ratio: map[string]float64{"cpu": 1.5}},
		row{Workload: "idle-n32", Opponent: "tuned", Treecast: Figures{"idle_stream_bytes": 0}, Void: "for the test"})
	rows[1].Void = "too flat"
	var b strings.Builder
	table(&b, rows)
	for _, want := range []string{"closed-4096-n32", "3.00×", "0.33×", "VOID: too flat", "check-64B", "1.500×", "idle_stream_bytes", "VOID: for the test"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "closed-4096-n32"); n != 1 {
		t.Errorf("our side is printed %d times", n)
	}
}

func TestVoid(t *testing.T) {
	good := Figures{"max_depth": 3, "dual_parented": 0.96, "copies": 1.7}
	for _, c := range []struct {
		hosts, parents int
		change         Figures
		void           bool
	}{
		{64, 2, nil, false},
		{64, 2, Figures{"max_depth": 2}, true},
		{32, 2, Figures{"max_depth": 2}, false},
		{32, 2, Figures{"max_depth": 1}, true},
		{32, 2, Figures{"dual_parented": 0.94}, true},
		{32, 2, Figures{"copies": 1.5}, true},
		{32, 1, Figures{"dual_parented": 0, "copies": 1}, false},
		{8, 2, Figures{"max_depth": 1, "copies": 1}, false},
	} {
		f := Figures{}
		for _, m := range []Figures{good, c.change} {
			for k, v := range m {
				f[k] = v
			}
		}
		if why := void(&workload{hosts: c.hosts, parents: c.parents}, f); (why != "") != c.void {
			t.Errorf("%d hosts, %d parents, %v: %q", c.hosts, c.parents, f, why)
		}
	}
}

// One run of a round that does not count voids the row.
func TestVoidRow(t *testing.T) {
	w := workload{name: "x", hosts: 32, parents: 2, opponents: []string{"tuned"}}
	good, flat := Figures{"max_depth": 2, "dual_parented": 1, "copies": 1.9}, Figures{"max_depth": 1, "dual_parented": 1, "copies": 1.9}
	rows := rowsOf(&w, []Figures{good, flat, good}, map[string][]Figures{"tuned": {{}}})
	if rows[0].Void == "" {
		t.Error("it counts")
	}
}

// All workloads have names of their own, opponents that exist, and the settings
// that rows of the tree must have.
func TestWorkloads(t *testing.T) {
	b := &bench{rounds: 3, times: times{time.Second, time.Second}}
	jobs, err := b.jobs()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, j := range jobs {
		for _, name := range append(j.with, j.name) {
			if seen[name] {
				t.Errorf("two workloads are called %s", name)
			}
			seen[name] = true
		}
	}
	for _, name := range []string{
		"closed-512-n8", "closed-4096-n64", "rate-4096-n32", "closed-1MiB-n32", "closed-4096-n32-parents1", "rate-4096-n32-kill", "rate-4096-n32-mute",
		"idle-n32", "join-1000", "relay-16", "codec-record-to-frame-100KiB", "codec-reassemble-100KiB", "check-4096B",
	} {
		if !seen[name] {
			t.Errorf("no workload %s", name)
		}
	}
	list := append(workloads(b.times), smokeWorkloads()...)
	for i, w := range list {
		for _, o := range w.opponents {
			if _, ok := rivals[o]; !ok {
				t.Errorf("%s: no opponent %s", w.name, o)
			}
		}
		if w.shares && (list[i-1].hosts != w.hosts || list[i-1].parents != w.parents) {
			t.Errorf("%s: other networks than %s", w.name, list[i-1].name)
		}
		closed := strings.HasPrefix(w.name, "closed-")
		if closed != (w.load.rate == 0) {
			t.Errorf("%s: rate %v", w.name, w.load.rate)
		}
	}
}
