package main

// A side is a network of hosts in this process, all connected on loopback, one
// of which publishes and all others subscribe: a tree, or gossipsub. Subscribers
// are numbered from 0. Its methods are for one goroutine.
type side interface {
	// attach gives what arrives from now on to r; nil drops it.
	attach(r *reader)
	// publish signs payload and sends it; it returns when payload may be used
	// again, and may wait. An error may belong to an earlier payload.
	publish(payload []byte) error
	subscribers() int
	traffic() *traffic
	// copies is how many chunks came in at the subscribers' hosts so far.
	copies() uint64
	// asked is how often chunks were asked for again; 0 where that is not known.
	asked() uint64
	// links are the connections among the hosts.
	links() int
	// shape is what is to be told of a tree; nil of no tree.
	shape() Figures
	// victims are the k subscribers whose loss hurts most.
	victims(k int) []int
	// kill ends a subscriber's host at once; mute keeps it connected and has it
	// send nothing any more.
	kill(sub int)
	mute(sub int)
	close() error
}

// A reader takes what subscribers are given.
type reader struct {
	books   *ledger
	seqAt   int      // where a payload has its number
	first   int64    // the number of message 0
	objects *objects // nil: messages are no parts of objects
}

// take may be called by one goroutine a subscriber.
func (r *reader) take(sub int, payload []byte) {
	r.books.subs[sub].take(seqOf(payload, r.seqAt) - r.first)
	if r.objects != nil {
		r.objects.take(sub, payload)
	}
}
