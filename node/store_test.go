package node

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"treecast/wire"
)

// TestStoredCohorts keeps cohorts with who opened them, and passes over files
// that make no sense.
func TestStoredCohorts(t *testing.T) {
	dir := t.TempDir()
	s, err := newStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	id, _ := testPeer(t)
	spec := func(n byte) *wire.Spec {
		return &wire.Spec{Topic: wire.Topic{n}, Binding: wire.BindingFeedTopic, Regime: wire.RegimeAll}
	}
	if err := s.putCohort(spec(2), id); err != nil {
		t.Fatal(err)
	}
	if err := s.putCohort(spec(1), ""); err != nil {
		t.Fatal(err)
	}
	invalid := spec(3)
	invalid.Regime = 9
	if err := s.putCohort(invalid, ""); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(s.cohortPath(wire.Topic{1}, ""))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		wire.Topic{4}.String():             good, // of another topic
		wire.Topic{5}.String():             []byte("garbage"),
		wire.Topic{1}.String() + "-nobody": good,
		".new-123":                         good,
	} {
		if err := os.WriteFile(filepath.Join(dir, cohortDir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log strings.Builder
	list, err := s.cohorts(slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || !list[0].spec.Equal(spec(1)) || list[0].by != "" || !list[1].spec.Equal(spec(2)) || list[1].by != id {
		t.Errorf("stored %+v", list)
	}
	if n := strings.Count(log.String(), "ignored"); n != 4 {
		t.Errorf("%d files ignored, want 4:\n%s", n, log.String())
	}
	if err := s.dropCohort(wire.Topic{2}, id); err != nil {
		t.Fatal(err)
	}
	if err := s.dropCohort(wire.Topic{2}, id); err != nil {
		t.Errorf("dropped twice: %v", err)
	}
	if list, _ = s.cohorts(slog.New(slog.DiscardHandler)); len(list) != 1 {
		t.Errorf("%d left", len(list))
	}
}
