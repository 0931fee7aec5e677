package sink

import (
	"strings"
	"testing"

	"treecast/wire/beef"
)

func TestCovers(t *testing.T) {
	id := strings.Repeat("0a", 32)
	for _, c := range []struct {
		pattern, subject string
		want             bool
	}{
		{">", "beef.*", true},
		{"beef.>", "beef.*", true},
		{"beef.*", "beef.*", true},
		{"*.*", "beef.*", true},
		{"*.>", "beef.*", true},
		{"beef." + id, "beef.*", false},
		{"beef." + id, "beef." + id, true},
		{"beef.*", "beef." + id, true},
		{"beef", "beef.*", false},
		{"beef.>", "beef", false},
		{"beef.*.x", "beef.*", false},
		{"beef.*", "beef.*.x", false},
		{"beef.*", "beef.>", false},
		{"*", "beef.*", false},
		{"pork.>", "beef.*", false},
	} {
		if got := covers(c.pattern, c.subject); got != c.want {
			t.Errorf("%s covers %s: %v", c.pattern, c.subject, got)
		}
	}
}

func TestCoveredNamesTheSubject(t *testing.T) {
	topics := []beef.TopicID{beef.TopicIDOf("a"), beef.TopicIDOf("b")}
	wanted := subjects(&beef.Election{Topics: topics})
	if err := covered([]string{"pork.>", wanted[0], wanted[1]}, wanted); err != nil {
		t.Error(err)
	}
	err := covered([]string{wanted[0]}, wanted)
	if err == nil || !strings.Contains(err.Error(), wanted[1]) {
		t.Errorf("%v, want %s", err, wanted[1])
	}
	if got := subjects(&beef.Election{}); len(got) != 1 || got[0] != "beef.*" {
		t.Errorf("all topics come under %v", got)
	}
}
