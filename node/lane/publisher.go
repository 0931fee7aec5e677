package lane

// Publisher is what an Ingress needs of the node for one group: feed indices, and
// the publication of payloads under them. An Ingress calls it from one goroutine at
// a time.
type Publisher interface {
	// Reserve returns the first of n consecutive feed indices, which follow
	// those of the call before. It may wait, and must return once the publisher is
	// closed.
	Reserve(n int) (first uint64, err error)
	// PublishAtAsync publishes payload, at most beef.MaxChunk bytes, under a reserved
	// index. It may block while the broker holds back, and must return once the
	// publisher is closed. done is called exactly once, from any goroutine: with
	// nil when the chunk came back down, else with the reason why it is lost. Until
	// then the publisher may read payload; afterwards it is the caller's again.
	PublishAtAsync(index uint64, payload []byte, done func(error))
}

// Message is one payload that the cohort delivered.
type Message struct {
	// Payload is an object frame or a fragment; read-only, and valid until
	// Release is called.
	Payload []byte
	// Owner is the Ethereum address of the ingress that signed it.
	Owner [20]byte
	// Index is its feed index, where HasIndex says that it is known.
	Index    uint64
	HasIndex bool
	// Release gives the payload back to the node; nil if there is nothing to
	// give back. Egress.Handle calls it before it returns.
	Release func()
}
