package node

import (
	"sync"

	"treecast/wire/soc"
)

const (
	// ownerProof is how many valid chunks an owner has to show before its key gets
	// a table. Making one takes as long as some nine recoveries, so whatever owners
	// come and go, tables add at most a seventh to what they are to save.
	ownerProof = 64
	// provingPerKey is how many owners are in one generation of those that are
	// counted, for each that may have a table.
	provingPerKey = 2
)

// owners are the keys of the owners whose chunks are checked often. It is bounded:
// of those with a key, who was not seen for the longest time makes room; of those
// that are counted on the way there, two generations are kept, so that an owner is
// forgotten that was not seen while a whole one of others was.
//
//  1. at most most owners have a key;
//  2. at most provingPerKey·most are in each of proving and older;
//  3. nobody is in two of the three.
type owners struct {
	most   int // 0: every key is recovered
	counts *counters

	mu      sync.Mutex
	now     uint64 // counts uses of keys
	keys    map[soc.Owner]*ownerUse
	proving map[soc.Owner]int // valid chunks
	older   map[soc.Owner]int
}

// ownerUse is an owner's key and when it was last used.
type ownerUse struct {
	key  *soc.OwnerKey
	used uint64
}

func newOwners(most int, c *counters) *owners {
	return &owners{
		most:    max(most, 0),
		counts:  c,
		keys:    make(map[soc.Owner]*ownerUse),
		proving: make(map[soc.Owner]int),
		older:   make(map[soc.Owner]int),
	}
}

// verify checks a batch, with the keys that are known.
func (o *owners) verify(batch []soc.Check) {
	if o.most == 0 {
		soc.VerifyBatch(batch)
		return
	}
	o.find(batch)
	soc.VerifyBatch(batch)
	for i := range batch {
		// Tables are made without the lock: the others go on recovering.
		if c := &batch[i]; c.Recovered() && o.proved(soc.Owner(c.Chunk.Owner)) {
			o.keep(c.NewKey())
		}
	}
}

// find gives each check the key of its owner, if it is known.
func (o *owners) find(batch []soc.Check) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range batch {
		c := &batch[i]
		if len(c.Chunk.Owner) != soc.OwnerSize {
			continue
		}
		if u := o.keys[soc.Owner(c.Chunk.Owner)]; u != nil {
			c.Key = u.key
			o.touch(u)
		}
	}
}

func (o *owners) touch(u *ownerUse) {
	o.now++
	u.used = o.now
}

// proved counts a valid chunk whose key had to be recovered, and says whether its
// owner is to get a table. Of several verifiers one is told so.
func (o *owners) proved(owner soc.Owner) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.keys[owner] != nil { // came since find
		return false
	}
	n, young := o.proving[owner]
	if !young {
		n = o.older[owner]
		delete(o.older, owner)
		if len(o.proving) >= provingPerKey*o.most {
			o.proving, o.older = o.older, o.proving
			clear(o.proving)
		}
	}
	o.proving[owner] = n + 1
	return n+1 == ownerProof
}

// keep takes in an owner's key.
func (o *owners) keep(key *soc.OwnerKey) {
	if key == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.proving, key.Owner())
	delete(o.older, key.Owner())
	if o.keys[key.Owner()] == nil {
		o.counts.add(countOwnerKeys)
		if len(o.keys) >= o.most {
			o.counts.add(countOwnerKeysDropped)
			o.drop()
		}
	}
	u := &ownerUse{key: key}
	o.touch(u)
	o.keys[key.Owner()] = u
}

// drop forgets the key whose last use is the oldest. It looks at all keys, which
// takes far less time than the table that has just been made.
func (o *owners) drop() {
	var oldest *ownerUse
	for _, u := range o.keys { // the order does not matter: no two uses are one
		if oldest == nil || u.used < oldest.used {
			oldest = u
		}
	}
	delete(o.keys, oldest.key.Owner())
}
