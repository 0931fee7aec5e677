package follow

import (
	"bytes"
	"time"

	"treecast/node/retain"
	"treecast/wire"
	"treecast/wire/beef"
)

// An Object is one whole BEEF object that a follower gives out. Its memory is its
// own.
type Object struct {
	// Frame is the object frame: its payload is the publisher's, byte for byte, and
	// its TopicID the header's. Of an object that came in fragments HashKey and SeqNum
	// are those of the first fragment that was read.
	Frame beef.Frame
	// Topic is the elected topic that it is delivered under; without an election of
	// topics the header's.
	Topic beef.TopicID
	// Cohort, Owner and Index name the chunk that completed it.
	Cohort wire.Topic
	Owner  wire.Owner
	Index  uint64

	key   pair
	spans []span // what an Ack is about; under Follower.mu once it is given out
	acked bool   // likewise
}

// span are chunks of one feed.
type span struct {
	feed *feed
	wire.IndexRange
}

// maxSpans bounds the pieces of an object, with those of its copies.
const maxSpans = 64

// pair stands for (ContentID, TopicID).
type pair [16]byte

func pairOf(contentID [32]byte, topicID beef.TopicID) pair {
	key := beef.PairKey(contentID, topicID)
	return pair(key[:16])
}

// chunk takes one chunk that is kept.
func (f *Follower) chunk(fd *feed, c *retain.Chunk) {
	f.mu.Lock()
	_, busy := fd.busy[c.Index]
	known := busy || fd.cursor.Has(c.Index)
	f.mu.Unlock()
	if known {
		return
	}
	at := []span{{fd, wire.IndexRange{From: c.Index, To: c.Index}}}
	payload, ok := payloadOf(c.Msg)
	version, err := beef.FrameVersion(payload)
	switch {
	case !ok || err != nil:
		f.ignore(at)
	case version == beef.FrameVerFragment:
		f.fragment(at, payload)
	default:
		frame, err := beef.ParseFrame(payload)
		if err != nil {
			f.ignore(at)
			return
		}
		f.whole(at, &frame, false)
	}
}

// payloadOf finds the payload in a kept message.
func payloadOf(msg []byte) ([]byte, bool) {
	var b wire.Broadcast
	if b.Parse(msg) != nil || b.Kind != wire.KindSoc {
		return nil, false
	}
	return b.Soc.Payload, true
}

// ignore counts chunks that are no part of an object.
func (f *Follower) ignore(at []span) {
	f.h.counted.ignored.Add(1)
	f.pass(at)
}

// pass is done with chunks that are not given out.
func (f *Follower) pass(at []span) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range at {
		s.feed.done(s.IndexRange)
		for i := s.From; i <= s.To; i++ {
			delete(s.feed.busy, i)
		}
	}
}

// work notes that chunks are under way.
func (f *Follower) work(at []span) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range at {
		for i := s.From; i <= s.To; i++ {
			s.feed.busy[i] = struct{}{}
		}
	}
}

// fragment takes a chunk that holds one.
func (f *Follower) fragment(at []span, payload []byte) {
	frag, err := beef.ParseFragment(payload)
	if err != nil {
		f.ignore(at)
		return
	}
	key := pairOf(frag.ContentID, frag.TopicID)
	frame, outcome := f.parts.Add(f.clock, &frag)
	switch outcome {
	case beef.OutcomeHeld, beef.OutcomeDuplicate: // a second copy shares the fate of the first
		f.work(at)
		f.partial[key] = add(f.partial[key], at[0])
	case beef.OutcomeComplete:
		f.whole(append(f.parted(key), at...), &frame, true)
	case beef.OutcomeUnwanted, beef.OutcomeHash:
		f.pass(append(f.parted(key), at...))
	case beef.OutcomeBytes: // it stays open, as the others of its object
	case beef.OutcomeLate:
		f.repeated(at, key)
	default:
		f.pass(at)
	}
}

// parted takes an object out of those that are not whole.
func (f *Follower) parted(key pair) []span {
	spans := f.partial[key]
	delete(f.partial, key)
	return spans
}

// add appends chunks to those of an object.
func add(spans []span, s span) []span {
	if n := len(spans); n > 0 && spans[n-1].feed == s.feed && spans[n-1].To+1 == s.From {
		spans[n-1].To = s.To
		return spans
	}
	return append(spans, s)
}

// wants is asked by the reassembler when fragment 0 is there.
func (f *Follower) wants(frag *beef.Fragment) bool {
	offer, ok := beef.OfferOfFragment(frag)
	return !ok || f.elections.Wants(&offer)
}

// givenUp is told by the reassembler of an object that it holds no more. Its chunks
// stay open: they are looked at again when something late comes.
func (f *Follower) givenUp(contentID [32]byte, topicID beef.TopicID) {
	spans := f.parted(pairOf(contentID, topicID))
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range spans {
		for i := s.From; i <= s.To; i++ {
			delete(s.feed.busy, i)
		}
	}
}

// whole takes a whole object; owned says that its payload is nobody else's memory.
func (f *Follower) whole(at []span, frame *beef.Frame, owned bool) {
	topic, ok := f.elects(frame)
	if !ok {
		f.pass(at)
		return
	}
	key := pairOf(frame.ContentID, frame.TopicID)
	if !f.seen.add(time.Now(), key) {
		f.h.counted.repeated.Add(1)
		f.repeated(at, key)
		return
	}
	last := at[len(at)-1]
	o := &Object{Frame: *frame, Topic: topic, Cohort: last.feed.topic, Owner: last.feed.owner, Index: last.To, key: key, spans: at}
	if !owned {
		o.Frame.Payload = bytes.Clone(frame.Payload)
	}
	f.work(o.spans)
	f.mu.Lock()
	f.pending[key] = o
	f.mu.Unlock()
	f.ready = append(f.ready, o)
}

// repeated is done with another copy of an object, or will be when that one is
// acknowledged: a copy that is done with says at the next start that the name had the
// object.
func (f *Follower) repeated(at []span, key pair) {
	f.mu.Lock()
	o := f.pending[key]
	if o != nil && len(o.spans)+len(at) <= maxSpans {
		for _, s := range at {
			o.spans = add(o.spans, s)
		}
		f.mu.Unlock()
		f.work(at)
		return
	}
	f.mu.Unlock()
	f.pass(at)
}

// elects returns the topic that an object is to be delivered under.
func (f *Follower) elects(frame *beef.Frame) (topic beef.TopicID, ok bool) {
	offer, err := beef.OfferOf(frame)
	if err != nil {
		f.h.counted.ignored.Add(1)
		return topic, false
	}
	f.matches = f.elections.Match(&offer, f.matches[:0])
	if len(f.matches) == 0 {
		return topic, false
	}
	return f.matches[0].Topic, true
}
