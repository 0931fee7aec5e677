package sink

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"treecast/wire/beef"
)

// subjects are those that the elected objects come under.
func subjects(e *beef.Election) []string {
	if len(e.Topics) == 0 {
		return []string{allSubjects}
	}
	var list []string
	for _, t := range e.Topics {
		list = append(list, SubjectPrefix+hex.EncodeToString(t[:]))
	}
	return list
}

// covered checks that a stream that listens to patterns takes all wanted subjects.
func covered(patterns, wanted []string) error {
	for _, w := range wanted {
		if !slices.ContainsFunc(patterns, func(p string) bool { return covers(p, w) }) {
			return fmt.Errorf("subject %s is not among its subjects %s", w, strings.Join(patterns, ", "))
		}
	}
	return nil
}

// covers says whether all that subject stands for also matches pattern: in both, *
// is any one token, and > at the end is one or more.
func covers(pattern, subject string) bool {
	have, want := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, p := range have {
		switch {
		case p == ">":
			return i < len(want)
		case i >= len(want) || want[i] == ">":
			return false
		case p != "*" && p != want[i]:
			return false
		}
	}
	return len(have) == len(want)
}
