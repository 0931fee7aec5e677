package beef

import (
	"cmp"
	"slices"
)

// ConsumerID names a consumer within one Elections; the caller picks it.
type ConsumerID uint64

// Match is one delivery that an object is due: a consumer, and the topic to
// deliver under.
type Match struct {
	Consumer ConsumerID
	Topic    TopicID
}

// Elections holds the elections of many consumers and finds those that an
// object is for. The cost is one hash lookup per deliverable topic, whatever
// the number of topics elected, and work in proportion to the matches
// (PROTOCOL §7 Election).
//
// Match and Wants only read: any number of them may run at once, but none
// together with Set or Remove. The zero Elections is empty and ready.
type Elections struct {
	consumers   map[ConsumerID]*elector
	byTopic     map[TopicID][]*elector // each list in the order of the IDs
	aggregators []*elector             // the same
}

// elector is one consumer's election, laid out for lookup.
type elector struct {
	id       ConsumerID
	topics   map[TopicID]struct{} // empty: an aggregator
	versions uint8                // bit v for Version v, bit 0 always; 0: all
}

// Set makes e the consumer's election, in the place of an earlier one. It keeps
// nothing of e.
func (s *Elections) Set(id ConsumerID, e Election) {
	s.Remove(id)
	if s.consumers == nil {
		s.consumers = make(map[ConsumerID]*elector)
		s.byTopic = make(map[TopicID][]*elector)
	}
	c := &elector{id: id, topics: make(map[TopicID]struct{}, len(e.Topics))}
	for _, v := range e.Versions {
		c.versions |= 1 | 1<<v
	}
	s.consumers[id] = c
	if len(e.Topics) == 0 {
		s.aggregators = insert(s.aggregators, c)
		return
	}
	for _, t := range e.Topics {
		if _, twice := c.topics[t]; twice {
			continue
		}
		c.topics[t] = struct{}{}
		s.byTopic[t] = insert(s.byTopic[t], c)
	}
}

// Remove forgets the consumer's election, if there is one.
func (s *Elections) Remove(id ConsumerID) {
	c, ok := s.consumers[id]
	if !ok {
		return
	}
	delete(s.consumers, id)
	s.aggregators = remove(s.aggregators, c)
	for t := range c.topics {
		if rest := remove(s.byTopic[t], c); len(rest) > 0 {
			s.byTopic[t] = rest
		} else {
			delete(s.byTopic, t)
		}
	}
}

// Len returns the number of consumers.
func (s *Elections) Len() int { return len(s.consumers) }

// Match appends to out one Match per consumer that the offer is for: first the
// consumers of its topics, in record order, each under the first that it
// elected, then the aggregators; within these in the order of the IDs.
func (s *Elections) Match(o *Offer, out []Match) []Match {
	topics := o.Topics()
	for i, t := range topics {
		for _, c := range s.byTopic[t] {
			if c.reads(o.Version) && !c.electsOneOf(topics[:i]) {
				out = append(out, Match{c.id, t})
			}
		}
	}
	if len(topics) == 0 {
		return out
	}
	for _, c := range s.aggregators {
		if c.reads(o.Version) {
			out = append(out, Match{c.id, topics[0]})
		}
	}
	return out
}

// Wants tells whether Match would find anybody.
func (s *Elections) Wants(o *Offer) bool {
	reads := func(c *elector) bool { return c.reads(o.Version) }
	for _, t := range o.Topics() {
		if slices.ContainsFunc(s.byTopic[t], reads) {
			return true
		}
	}
	return o.count > 0 && slices.ContainsFunc(s.aggregators, reads)
}

func (c *elector) reads(v Version) bool { return c.versions == 0 || c.versions&(1<<v) != 0 }

func (c *elector) electsOneOf(topics []TopicID) bool {
	for _, t := range topics {
		if _, ok := c.topics[t]; ok {
			return true
		}
	}
	return false
}

func find(list []*elector, id ConsumerID) (int, bool) {
	return slices.BinarySearchFunc(list, id, func(c *elector, id ConsumerID) int {
		return cmp.Compare(c.id, id)
	})
}

func insert(list []*elector, c *elector) []*elector {
	at, _ := find(list, c.id)
	return slices.Insert(list, at, c)
}

func remove(list []*elector, c *elector) []*elector {
	at, ok := find(list, c.id)
	if !ok || list[at] != c {
		return list
	}
	return slices.Delete(list, at, at+1)
}
