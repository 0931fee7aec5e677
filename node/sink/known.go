package sink

import (
	"encoding/hex"

	"treecast/node/follow"
)

// knownID stands for a message id: the first halves of ContentID and TopicID. Who
// makes two objects that share it, at the cost of 2^64 hashes, loses one of them.
type knownID [32]byte

func knownOf(o *follow.Object) (id knownID) {
	copy(id[:16], o.Frame.ContentID[:])
	copy(id[16:], o.Topic[:])
	return id
}

// parseKnown reads the value of HeaderID; false if it is none of a sink's.
func parseKnown(s string) (id knownID, ok bool) {
	if len(s) != 2*64 {
		return id, false
	}
	if _, err := hex.Decode(id[:16], []byte(s[:32])); err != nil {
		return id, false
	}
	_, err := hex.Decode(id[16:], []byte(s[64:96]))
	return id, err == nil
}

// known are message ids that were found in the stream, the newest of them up to a
// limit.
type known struct {
	limit int
	set   map[knownID]struct{}
	order []knownID // as added; from next on if the limit was reached
	next  int
}

// reset forgets all.
func (k *known) reset() { *k = known{limit: k.limit} }

func (k *known) add(id knownID) {
	if _, ok := k.set[id]; ok || k.limit <= 0 {
		return
	}
	if k.set == nil {
		k.set = make(map[knownID]struct{})
	}
	if len(k.order) < k.limit {
		k.order = append(k.order, id)
	} else {
		delete(k.set, k.order[k.next])
		k.order[k.next] = id
		k.next = (k.next + 1) % k.limit
	}
	k.set[id] = struct{}{}
}

func (k *known) has(id knownID) bool {
	_, ok := k.set[id]
	return ok
}
