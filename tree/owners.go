package tree

import (
	"bytes"
	"slices"

	"treecast/wire"
	"treecast/wire/soc"
)

const (
	// maxIndex is the highest feed index (PROTOCOL §4 Feed index).
	maxIndex = 1<<63 - 1
	// tableSize is how many ids above an owner's highest index are known, for
	// chunks without a hint, and tableBelow how many at most below it, so that a
	// copy that lost its hint on the way is still known for a copy.
	tableSize  = 4096
	tableBelow = tableSize / 2
)

// owners are the feeds of a cohort, one an owner, sorted by owner.
type owners struct {
	most   int
	width  int
	recent int
	list   []*feed
}

// A feed is one owner's sequence of chunks.
type feed struct {
	owner  wire.Owner
	bits   bitmap
	high   uint64 // highest index known: delivered here, or named by a parent's head
	known  bool   // high counts
	ring   []remembered
	marked int
	table  map[[32]byte]uint64
	upto   uint64 // the table holds ids of indices below
}

// remembered is a delivered chunk, for telling an equivocation from a duplicate.
type remembered struct {
	index uint64
	print uint64
	cac   [32]byte
	sig   [65]byte
	set   bool
}

// find is a binary search by hand: the one of package slices makes its argument
// escape, which would be an allocation a chunk.
func (o *owners) find(owner *wire.Owner) (int, bool) {
	low, high := 0, len(o.list)
	for low < high {
		mid := (low + high) / 2
		switch bytes.Compare(o.list[mid].owner[:], owner[:]) {
		case 0:
			return mid, true
		case -1:
			low = mid + 1
		default:
			high = mid
		}
	}
	return low, false
}

func (o *owners) get(owner *wire.Owner) *feed {
	if i, ok := o.find(owner); ok {
		return o.list[i]
	}
	return nil
}

// add finds or makes the feed of owner; nil if there are too many.
func (o *owners) add(owner *wire.Owner) *feed {
	i, ok := o.find(owner)
	if ok {
		return o.list[i]
	}
	if len(o.list) >= o.most {
		return nil
	}
	f := &feed{owner: *owner, bits: bitmap{width: o.width}}
	o.list = slices.Insert(o.list, i, f)
	return f
}

// known says whether that very content was delivered under that index, without
// any hash of an id.
func (o *owners) known(owner *wire.Owner, index, print uint64) bool {
	f := o.get(owner)
	if f == nil {
		return false
	}
	r := f.recall(index)
	return r != nil && r.print == print
}

// has says whether index was delivered, or is too old to tell.
func (o *owners) has(owner *wire.Owner, index uint64) bool {
	f := o.get(owner)
	return f != nil && f.bits.has(index)
}

// differs says whether other content is remembered under index.
func (o *owners) differs(owner *wire.Owner, index, print uint64) bool {
	f := o.get(owner)
	if f == nil {
		return false
	}
	r := f.recall(index)
	return r != nil && r.print != print
}

// compare tells a second valid chunk under a delivered index from the first: by
// content, as an author may sign the same content twice. Where the first is no
// longer remembered it counts as a duplicate.
func (o *owners) compare(owner *wire.Owner, index uint64, cac *[32]byte) Counter {
	if r := o.get(owner).recall(index); r != nil && r.cac != *cac {
		return CountEquivocation
	}
	return CountDuplicate
}

// mark enters a delivered chunk; false if its owner cannot be tracked.
func (o *owners) mark(k *check, cac *[32]byte) bool {
	f := o.add(&k.owner)
	if f == nil {
		return false
	}
	f.bits.set(k.index)
	if !f.known || k.index > f.high {
		f.high, f.known = k.index, true
	}
	if o.recent > 0 {
		f.remember(k, cac, o.recent)
	}
	return true
}

func (f *feed) recall(index uint64) *remembered {
	if len(f.ring) == 0 {
		return nil
	}
	if r := &f.ring[index%uint64(len(f.ring))]; r.set && r.index == index {
		return r
	}
	return nil
}

// remember keeps the chunk in a ring that grows with its use, up to most.
func (f *feed) remember(k *check, cac *[32]byte, most int) {
	if f.marked++; f.marked > len(f.ring) && len(f.ring) < most {
		old := f.ring
		f.ring = make([]remembered, min(max(16, 2*len(old)), most))
		for _, r := range old {
			if n := &f.ring[r.index%uint64(len(f.ring))]; r.set && !(n.set && n.index > r.index) {
				*n = r
			}
		}
	}
	r := &f.ring[k.index%uint64(len(f.ring))]
	if r.set && r.index > k.index {
		return // a late one does not displace a newer
	}
	*r = remembered{index: k.index, print: k.print, cac: *cac, sig: k.sig, set: true}
}

// lookUp finds the index of an id that came without a hint among the tableSize
// ids above the owner's highest known index, or the newest ones below.
func (o *owners) lookUp(owner *wire.Owner, topic *wire.Topic, id *[32]byte) (uint64, bool) {
	f := o.add(owner)
	if f == nil {
		return 0, false
	}
	from := uint64(0)
	if f.known {
		from = f.high + 1
	}
	// Rows below stay until there are as many of them as of rows above.
	if f.table == nil || len(f.table) > 2*tableSize || f.upto < from {
		f.table, f.upto = make(map[[32]byte]uint64, tableSize), from-min(from, tableBelow)
	}
	for ; f.upto < from+tableSize && f.upto <= maxIndex; f.upto++ {
		f.table[soc.FeedID(topic[:], f.upto)] = f.upto
	}
	index, ok := f.table[*id]
	return index, ok
}

// heads are the highest indices, for an Ack.
func (d *data) heads() []wire.Head {
	if d.binding != wire.BindingFeedTopic {
		return nil
	}
	var heads []wire.Head
	for _, f := range d.feeds.list {
		if f.known && len(heads) < wire.MaxHeads {
			heads = append(heads, wire.Head{Owner: f.owner, Index: f.high})
		}
	}
	return heads
}

// noteHeads raises the highest known indices by what a parent's Ack said, so
// that ids without a hint are found. Nothing is believed beyond that, and
// nothing about owners that the spec does not name: they would take the places
// of those that publish.
func (c *Cohort) noteHeads(heads []wire.Head) {
	for _, h := range heads {
		if !c.explicit() || !c.admits(&h.Owner) {
			continue
		}
		f := c.data.feeds.add(&h.Owner)
		if f != nil && h.Index <= maxIndex && (!f.known || h.Index > f.high) {
			f.high, f.known = h.Index, true
		}
	}
}
