package tree_test

import (
	"testing"

	"treecast/tree"
)

// Each counter has a name of its own, fit for a label.
func TestCounterNames(t *testing.T) {
	names := map[string]bool{}
	for i := range (tree.Counters{}) {
		name := tree.Counter(i).String()
		if name == "" || names[name] {
			t.Errorf("counter %d is called %q", i, name)
		}
		for _, r := range name {
			if r != '_' && (r < 'a' || r > 'z') {
				t.Errorf("%q is no label", name)
			}
		}
		names[name] = true
	}
}
