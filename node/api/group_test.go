package api

import (
	"testing"

	"treecast/wire"
	"treecast/wire/beef"
)

func TestGroupOf(t *testing.T) {
	for group, want := range map[uint32]string{0x1000: "ff0e::b:1000", 0x1001: "ff0e::b:1001", 0x8FFF: "ff0e::b:8fff"} {
		if got := groupOf(beef.CohortTopic(group), nil); got != want {
			t.Errorf("group %#x: %q, want %q", group, got, want)
		}
	}
	if got := groupOf(wire.Topic{1}, nil); got != "" {
		t.Errorf("a cohort of no group: %q", got)
	}
	if got := groupOf(beef.CohortTopic(0x1000), &wire.Spec{Binding: wire.BindingAnchor}); got != "" {
		t.Errorf("a cohort of another binding: %q", got)
	}
}
