package node

import (
	"sync"

	"treecast/wire/soc"
)

const (
	// ownerProof is how many valid chunks an owner has to show before its key gets
	// a table. Making one takes as long as some eight recoveries, so whatever owners
	// come and go, tables add at most an eighth to what they are to save.
	ownerProof = 64
	// provingPerKey is how many owners are counted for each that may have a table.
	provingPerKey = 4
)

// owners are the keys of the owners whose chunks are checked often. It is bounded:
// who was not seen for the longest time makes room.
//
//  1. at most most owners have a key, at most provingPerKey·most are counted;
//  2. nobody is among both.
type owners struct {
	most   int // 0: every key is recovered
	counts *counters

	mu      sync.Mutex
	now     uint64 // counts uses
	keys    map[soc.Owner]*ownerUse
	proving map[soc.Owner]*ownerUse
}

// ownerUse is an owner with its key, or with the valid chunks on the way there.
type ownerUse struct {
	key   *soc.OwnerKey
	valid int
	used  uint64
}

func newOwners(most int, c *counters) *owners {
	return &owners{most: max(most, 0), counts: c, keys: make(map[soc.Owner]*ownerUse), proving: make(map[soc.Owner]*ownerUse)}
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
	u := o.proving[owner]
	if u == nil {
		makeRoom(o.proving, provingPerKey*o.most)
		u = new(ownerUse)
		o.proving[owner] = u
	}
	o.touch(u)
	u.valid++
	return u.valid == ownerProof
}

// keep takes in an owner's key.
func (o *owners) keep(key *soc.OwnerKey) {
	if key == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.proving, key.Owner())
	if o.keys[key.Owner()] == nil {
		o.counts.add(countOwnerKeys)
		if makeRoom(o.keys, o.most) {
			o.counts.add(countOwnerKeysDropped)
		}
	}
	u := &ownerUse{key: key}
	o.touch(u)
	o.keys[key.Owner()] = u
}

// makeRoom sees that one more owner fits into uses of at most most, and says
// whether the one of the oldest use had to go. It looks at all: an owner that is
// new to a full table has just cost a recovery, which takes much longer.
func makeRoom(uses map[soc.Owner]*ownerUse, most int) bool {
	if len(uses) < most {
		return false
	}
	var oldest soc.Owner
	var found *ownerUse
	for owner, u := range uses { // the order does not matter: no two uses are one
		if found == nil || u.used < found.used {
			oldest, found = owner, u
		}
	}
	delete(uses, oldest)
	return true
}
