package lane_test

import (
	"fmt"
	"testing"

	"treecast/node/lane"
	"treecast/wire/beef"
)

// topicIn returns a topic of each group of a plane with that many bits.
func topicIn(t *testing.T, bits int) map[uint32]string {
	t.Helper()
	names := make(map[uint32]string)
	for i := 0; len(names) < 1<<bits; i++ {
		name := fmt.Sprint("topic", i)
		group, err := beef.GroupIndex(beef.TopicIDOf(name), bits)
		if err != nil {
			t.Fatal(err)
		}
		names[group] = name
	}
	return names
}

// TestGroupsAreApart: each group has its flow and its numbers, and one whose cohort
// holds back delays no other.
func TestGroupsAreApart(t *testing.T) {
	const bits = 2
	names := topicIn(t, bits)
	cohorts := make(map[uint32]*cohort)
	publishers := make(map[uint32]lane.Publisher)
	for group := range names {
		cohorts[group] = newCohort(t, nil)
		publishers[group] = cohorts[group]
	}
	in := startIngress(t, lane.IngressConfig{Publishers: publishers, ShardBits: bits, Limits: unlimited})
	held := cohorts[beef.BaseGroup]
	open := held.shut(t, &held.calls)
	var all []byte
	for i := range 3 {
		for group := beef.BaseGroup; group < beef.BaseGroup+1<<bits; group++ {
			all = append(all, submission(t, fmt.Sprint(group, i), 100, names[group], names[beef.BaseGroup])...)
		}
	}
	nc := dial(t, in.Addrs()[0])
	write(t, nc, all)
	eventually(t, "the other groups' objects", func() bool { return in.Counters().Published == 9 })
	open()
	nc.CloseWrite()
	awaitClose(t, nc)
	for group, c := range cohorts {
		got := c.seen()
		if len(got) != 3 {
			t.Errorf("group %#x: %d chunks, want 3", group, len(got))
		}
		for i, b := range got {
			f, err := beef.ParseFrame(b)
			if err != nil || f.SeqNum != uint64(i)+1 || f.HashKey != beef.HashKey(beef.SenderOf([32]byte{}), group) {
				t.Errorf("group %#x: %+v, %v", group, f.Header, err)
			}
		}
	}
}

// TestInterest: the groups are those of the consumers' topics, while they are there.
func TestInterest(t *testing.T) {
	const bits = 3
	names := topicIn(t, bits)
	const first, second = beef.BaseGroup, beef.BaseGroup + 5
	dialled := mustDial(t, "sink@127.0.0.1:1="+names[second])
	e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0", Dial: []lane.DialConfig{dialled}, ShardBits: bits})
	want := func(groups ...uint32) {
		t.Helper()
		eventually(t, "groups", func() bool { return fmt.Sprint(e.Groups()) == fmt.Sprint(groups) })
		<-e.Changed()
	}
	want(second)
	connect(t, e, lane.Request{}) // an aggregator names no group
	one := connect(t, e, lane.Request{Topics: []string{names[first], names[first], names[second]}})
	want(first, second)
	one.SetLinger(0)
	one.Close()
	want(second)
	if _, err := lane.NewEgress(lane.EgressConfig{ShardBits: 16}); err == nil {
		t.Error("16 shard bits")
	}
}
