package lane

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"treecast/wire/beef"
)

// ParseTopic returns the identifier of a topic given as 64 hex digits, or else by
// its name: 1..beef.MaxTopicName bytes of UTF-8.
func ParseTopic(s string) (beef.TopicID, error) {
	var id beef.TopicID
	if len(s) == hex.EncodedLen(len(id)) {
		if b, err := hex.DecodeString(s); err == nil {
			copy(id[:], b)
			return id, nil
		}
	}
	if s == "" || len(s) > beef.MaxTopicName || !utf8.ValidString(s) {
		return id, fmt.Errorf("topic %q, want 64 hex digits or a name of 1..%d bytes", s, beef.MaxTopicName)
	}
	return beef.TopicIDOf(s), nil
}

// splitList reads a list as HTTP has it, in a header or a query that may come more
// than once: a JSON array of strings, or words between commas, without the white
// space around them. Only the array can hold a name with a comma.
func splitList(values []string) ([]string, error) {
	var all []string
	for _, v := range values {
		v = strings.TrimSpace(v)
		if !utf8.ValidString(v) { // the JSON decoder would put another letter in its place
			return nil, errors.New("not UTF-8")
		}
		if strings.HasPrefix(v, "[") {
			var list []string
			if err := json.Unmarshal([]byte(v), &list); err != nil {
				return nil, fmt.Errorf("%.64q: want a comma list or a JSON array of strings", v)
			}
			all = append(all, list...)
			continue
		}
		for _, word := range strings.Split(v, ",") {
			if word = strings.TrimSpace(word); word != "" {
				all = append(all, word)
			}
		}
	}
	return all, nil
}

// topicNames reads the topics of a submission.
func topicNames(values []string) ([]string, error) {
	names, err := splitList(values)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 || len(names) > beef.MaxTopics {
		return nil, fmt.Errorf("%d names, want 1..%d", len(names), beef.MaxTopics)
	}
	for _, name := range names {
		if name == "" || len(name) > beef.MaxTopicName || !utf8.ValidString(name) {
			return nil, fmt.Errorf("a name that is not 1..%d bytes of UTF-8", beef.MaxTopicName)
		}
	}
	return names, nil
}
