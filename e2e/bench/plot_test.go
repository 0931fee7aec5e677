package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The plots are well-formed, and each bar is as long as its value says.
func TestPlots(t *testing.T) {
	dir := t.TempDir()
	if err := writePlots(dir, sampleRows()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"goodput.svg", "cpu.svg", "wire.svg"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, string(data))
	}
	if _, err := os.Stat(filepath.Join(dir, "latency.svg")); err == nil {
		t.Error("a plot of no rows")
	}
	chart := barChart("a < b", "ms", []bar{{"g", "treecast", 10}, {"g", "tuned", 20}, {"h", "treecast", 0}})
	for _, want := range []string{"a &lt; b", `width="210.0"`, `width="420.0"`, `width="0.0"`, "20 ms"} {
		if !strings.Contains(chart, want) {
			t.Errorf("no %s in\n%s", want, chart)
		}
	}
	if c := barChart("x", "", []bar{{"g", "a", 1}, {"g", "b", 1000}}); !strings.Contains(c, "logarithmic") {
		t.Error("a factor of 1000 on a linear scale")
	}
}

func wellFormed(t *testing.T, picture string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
	}
}
