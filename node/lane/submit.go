package lane

import (
	"time"

	"treecast/wire/beef"
)

// claim judges what a decoder cannot: the object's group, its size in chunks and
// whether it was submitted before. With an empty reason the object holds its pair
// and is to be handed on or abandoned; else it is rejected, and still names its
// pair.
func (in *Ingress) claim(sub *beef.Submission, deliverable int, from origin) (o *object, reason string) {
	f := &sub.Frame
	sub.Allow(deliverable)
	o = &object{
		key:          pairOf(f.ContentID, f.TopicID),
		contentID:    f.ContentID,
		topicID:      f.TopicID,
		deliverCount: f.DeliverCount,
		payload:      len(f.Payload),
		from:         from,
	}
	group, err := beef.GroupIndex(f.TopicID, in.cfg.ShardBits)
	if err != nil {
		panic(err) // NewIngress has checked ShardBits
	}
	if o.to = in.outlets[group]; o.to == nil {
		return o, ReasonGroup
	}
	if o.count, err = beef.ChunkCount(o.payload); err != nil {
		return o, ReasonFragments
	}
	o.weight = min(int64(o.count)*beef.MaxChunk, in.cfg.Limits.Backlog)
	if !in.claims.claim(time.Now(), o.key, o.deliverCount) {
		return o, ReasonDuplicate
	}
	return o, ""
}

// abandon gives up an object that was claimed and cannot be handed on.
func (in *Ingress) abandon(o *object) {
	in.claims.settle(time.Now(), o.key, o.deliverCount, 0, false)
}

// hand passes a claimed object on, which has its share of the backlog. The frame's
// views end with the call, so all that is needed of it is copied here, once, into
// the chunks that are published.
func (in *Ingress) hand(o *object, f *beef.Frame) {
	f.HashKey = o.to.hashKey
	in.chunks.cut(f, o)
	in.counted.objects.Add(1)
	in.counted.bytes.Add(uint64(o.payload))
	o.to.put(o)
}

// reject counts and logs an object that is refused.
func (in *Ingress) reject(reason, door, remote string, args ...any) {
	in.counted.rejected.add(reason)
	in.cfg.Log.Debug("object rejected", append(args, "door", door, "remote", remote, "reason", reason)...)
}

// fail counts and logs the loss of an object once, whichever chunk it was.
func (in *Ingress) fail(o *object, reason string, err error) {
	if !o.lost.CompareAndSwap(nil, &err) {
		return
	}
	in.counted.failed.add(reason)
	in.cfg.Log.Warn("object not published", "reason", reason, "remote", o.from.remote(),
		"bytes", o.payload, "err", err)
}

// settle ends one chunk, and with the last one the object.
func (in *Ingress) settle(o *object) {
	if o.left.Add(-1) > 0 {
		return
	}
	lost := o.lost.Load()
	in.claims.settle(time.Now(), o.key, o.deliverCount, o.seq, lost == nil)
	in.backlog.Release(o.weight)
	if lost != nil {
		o.from.settled(*lost)
		return
	}
	in.counted.published.Add(1)
	o.from.settled(nil)
}
