package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"treecast/wire/beef"
)

func small() Config {
	return Config{
		Nodes: 12, Capacity: 4, Consumers: 3, Objects: 90, ObjectBytes: 900, Rate: 150, Kill: 1,
		Transport: "tcp", Seed: 7, Timeout: 40 * time.Second,
	}
}

// good runs cfg and wants a perfect report.
func good(t *testing.T, cfg Config) *Demo {
	t.Helper()
	d, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &d.Report
	if !r.OK || r.Missing+r.Corrupted+r.DuplicatesSurfaced != 0 || r.Deliveries != r.DeliveriesExpected || r.complete != r.Objects {
		t.Errorf("%+v", r)
	}
	if r.Attached != cfg.Nodes || r.DualParented != 1 || r.MaxDepth < 2 || r.Killed != cfg.Kill || cfg.Kill > 0 && r.KilledChildren == 0 || r.Left != cfg.Leave {
		t.Errorf("%+v", r)
	}
	return d
}

func TestDemoLosesNothingWhenARelayIsCutOff(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	d := good(t, small())
	var table, tree bytes.Buffer
	if err := d.Report.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	if err := d.DrawTree(&tree); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(table.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "90 of 90 objects delivered, ") {
		t.Errorf("last line %q", last)
	}
	if n := strings.Count(tree.String(), "\n"); n != 11 { // all but the one cut off
		t.Errorf("%d nodes drawn:\n%s", n, tree.String())
	}
}

func TestDemoLosesNothingWhenRelaysLeave(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	cfg := small()
	cfg.Leave = 2
	good(t, cfg)
}

func TestDemoCarriesFragmentsOverQUIC(t *testing.T) {
	cfg := small()
	cfg.Transport, cfg.ObjectBytes, cfg.Objects = "quic", 30_000, 30
	good(t, cfg)
}

func TestDemoCarriesRealObjects(t *testing.T) {
	var vectors struct {
		Objects struct {
			Items []struct{ ID, Hex, SHA256 string }
		}
	}
	b, err := os.ReadFile("../../../../wire/beef/testdata/beef.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &vectors); err != nil {
		t.Fatal(err)
	}
	dir, out := t.TempDir(), t.TempDir()
	for _, o := range vectors.Objects.Items {
		object, err := hex.DecodeString(o.Hex)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, o.ID), object, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := small()
	cfg.ObjectsDir, cfg.Out, cfg.Kill = dir, out, 0
	good(t, cfg)
	for n := 1; n <= cfg.Consumers; n++ {
		for _, o := range vectors.Objects.Items {
			object, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("consumer-%d", n), o.SHA256))
			if hash := sha256.Sum256(object); err != nil || hex.EncodeToString(hash[:]) != o.SHA256 {
				t.Errorf("consumer %d, %s: %v", n, o.ID, err)
			}
		}
	}
}

func TestDemoReportsATimeout(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	cfg := small()
	cfg.Rate, cfg.Timeout = 1, 700*time.Millisecond
	d, err := Run(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "not done within 700ms") || d.Report.OK {
		t.Errorf("error %v, report %+v", err, d.Report)
	}
}

func TestGeneratedObjectsFollowFromTheSeed(t *testing.T) {
	a, b, c := generate(40, 64, 5), generate(40, 64, 5), generate(40, 64, 6)
	for i := range a.bytes {
		if !bytes.Equal(a.bytes[i], b.bytes[i]) || bytes.Equal(a.bytes[i], c.bytes[i]) || len(a.bytes[i]) != 64 {
			t.Errorf("object %d", i)
		}
		if _, ok := beef.MarkerOf(a.bytes[i]); !ok {
			t.Errorf("object %d has no marker", i)
		}
	}
	if len(a.index) != 40 || a.size != 40*64 {
		t.Errorf("%d different objects, %d bytes", len(a.index), a.size)
	}
	if smallest := generate(300, minObject, 1); len(smallest.bytes) != 300 {
		t.Errorf("%d different objects of the smallest size", len(smallest.bytes))
	}
}

func TestLoadRefusesWhatIsNoObject(t *testing.T) {
	dir := t.TempDir()
	if _, err := load(dir); err == nil {
		t.Error("an empty directory is accepted")
	}
	object := []byte{1, 0, 0xBE, 0xEF, 1}
	for _, name := range []string{"b", "a"} { // the same bytes: one object
		os.WriteFile(filepath.Join(dir, name), object, 0o600)
	}
	if o, err := load(dir); err != nil || len(o.bytes) != 1 {
		t.Errorf("%v, %v", o, err)
	}
	os.WriteFile(filepath.Join(dir, "c"), []byte("text"), 0o600)
	if _, err := load(dir); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "c")) {
		t.Errorf("error %v", err)
	}
}

func TestDeparturesAreDueBetweenAThirdAndTwoThirds(t *testing.T) {
	for _, n := range [][2]int{{1, 0}, {0, 2}, {3, 2}} {
		d := newDepartures(nil, n[0], n[1], 300)
		before, leaves := 0, 0
		for i, k := range d.kinds {
			due := d.due(i)
			if due < 100 || due > 200 || due <= before {
				t.Errorf("departure %d of %v at object %d", i, n, due)
			}
			before = due
			leaves += int(k)
		}
		if len(d.kinds) != n[0]+n[1] || leaves != n[1] {
			t.Errorf("%v: planned %v", n, d.kinds)
		}
	}
}

func TestQuantiles(t *testing.T) {
	var samples []time.Duration
	for i := range 100 {
		samples = append(samples, time.Duration(100-i)*time.Millisecond)
	}
	if l := latency(samples); l.P50 != 50 || l.P99 != 99 || l.Max != 100 {
		t.Errorf("%+v", l)
	}
	if h := healing(nil); h != (Healing{}) {
		t.Errorf("%+v", h)
	}
}
