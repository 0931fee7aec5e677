package sim

import "treecast/wire"

// lie is the way in which a node of ours lies. It runs the real core; what it
// sends is distorted.
type lie uint8

const (
	lieNone       lie = iota
	lieRank           // claims to stand right below the broker, and as an asker at the very bottom
	lieCandidates     // names nodes that are not there
	lieWithhold       // forwards no chunk
	lieForge          // alters every chunk

	lieKinds = lieForge
)

// distort changes a frame that a liar sends; ack says that it answers a Subscribe.
func (w *world) distort(l lie, body []byte, ack bool) []byte {
	if l != lieRank && l != lieCandidates {
		return body
	}
	if ack {
		a, err := wire.ParseAck(body)
		if err != nil {
			return body
		}
		if l == lieRank && a.HasBand {
			a.Band = 2
		}
		if l == lieCandidates && a.Status == wire.StatusFull {
			a.Candidates = w.nobody()
		}
		return a.Append(nil)
	}
	var b wire.Broadcast
	if err := b.Parse(body); err != nil || b.Kind != wire.KindFound {
		return body
	}
	if l == lieCandidates {
		b.Found.Candidates = w.nobody()
	}
	for i := range b.Found.Candidates {
		if l == lieRank {
			b.Found.Candidates[i].Band, b.Found.Candidates[i].Depth = 2, 1
		}
	}
	return wire.AppendFound(nil, &b.Found)
}

// distortSubscribe changes what a liar says of itself when it asks for a parent.
func (w *world) distortSubscribe(l lie, body []byte) []byte {
	first, err := wire.ParseFirst(body)
	if err != nil || first.Subscribe == nil || l != lieRank {
		return body
	}
	first.Subscribe.Band, first.Subscribe.Childless = 4000, true
	return first.Subscribe.Append(nil)
}

// nobody are two candidates that do not exist, ranked as well as can be.
func (w *world) nobody() []wire.Candidate {
	list := make([]wire.Candidate, 2)
	for i := range list {
		list[i] = wire.Candidate{Depth: 1, HasBand: true, Band: 2}
		for k := range list[i].Addr {
			list[i].Addr[k] = byte(w.rng.Uint64())
		}
		list[i].Addr[24] = 0xff // an index beyond MaxNodes
	}
	return list
}
