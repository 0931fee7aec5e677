package lane

import (
	"maps"
	"slices"

	"treecast/wire/beef"
)

// groupsOf returns the groups that carry the topics, each once (PROTOCOL §7).
func groupsOf(topics []beef.TopicID, shardBits int) []uint32 {
	var groups []uint32
	for _, t := range topics {
		group, err := beef.GroupIndex(t, shardBits)
		if err != nil {
			panic(err) // NewEgress has checked ShardBits
		}
		groups = append(groups, group)
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// count adds d to the consumers of each group; called under mu.
func (e *Egress) count(groups []uint32, d int) {
	for _, group := range groups {
		if e.groups[group] += d; e.groups[group] == 0 {
			delete(e.groups, group)
		}
	}
	if len(groups) > 0 {
		select {
		case e.changed <- struct{}{}:
		default:
		}
	}
}

// Groups returns the groups that carry the topics which present consumers, dialled
// ones included, have elected: those whose cohorts the node has to be in. One that
// elects all topics names no group; which ones it gets is the node's configuration.
func (e *Egress) Groups() []uint32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.groups))
}

// Changed holds a token when Groups may return something else than before. It is
// for one receiver.
func (e *Egress) Changed() <-chan struct{} { return e.changed }
