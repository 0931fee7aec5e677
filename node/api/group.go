package api

import (
	"net/netip"
	"sync"

	"treecast/wire"
	"treecast/wire/beef"
)

// beefGroups maps the cohorts of the BEEF plane to their groups, of which there are
// 2^beef.MaxShardBits: a cohort's topic is a hash, so the way back is a table. It
// takes some milliseconds and is made when a cohort is first looked up that is not
// the unsharded plane's.
var beefGroups = sync.OnceValue(func() map[wire.Topic]uint32 {
	groups := make(map[wire.Topic]uint32, 1<<beef.MaxShardBits)
	for i := range uint32(1 << beef.MaxShardBits) {
		groups[beef.CohortTopic(beef.BaseGroup+i)] = beef.BaseGroup + i
	}
	return groups
})

// unsharded is the cohort of the plane's first group.
var unsharded = sync.OnceValue(func() wire.Topic { return beef.CohortTopic(beef.BaseGroup) })

// groupOf returns the IPv6 address of the group that a cohort carries; empty for a
// cohort that is none of the BEEF plane (PROTOCOL §7).
func groupOf(topic wire.Topic, spec *wire.Spec) string {
	if spec != nil && spec.Binding != wire.BindingFeedTopic {
		return ""
	}
	group, ok := beef.BaseGroup, topic == unsharded()
	if !ok {
		group, ok = beefGroups()[topic]
	}
	if !ok {
		return ""
	}
	return netip.AddrFrom16(beef.GroupAddress(group)).String()
}
