package soc

// exam checks of chunks all but who signed them, some at a time, so that their
// hashes fill the machine's width.
type exam struct {
	trees  *trees
	live   [BatchSize]*Check // those without a fault
	left   int               // of live
	signed [BatchSize]Hash
}

// examine sets CAC, and digest, which is what the curve signs, of at most BatchSize
// checks; of those with a fault Err alone.
func (x *exam) examine(checks []Check) {
	x.left = 0
	for i := range checks {
		c := &checks[i]
		c.CAC, c.point = Hash{}, [uncompressedSize]byte{}
		if c.Err = CheckCanonical(&c.Chunk); c.Err == nil {
			x.trees.grow(x.left, c.Chunk.Payload)
			x.live[x.left] = c
			x.left++
		}
	}
	x.trees.finish(x.left)
	m := &x.trees.mixer
	for i, c := range x.live[:x.left] {
		m.add(&c.CAC, c.Chunk.Span, x.trees.root(i)[:])
	}
	m.flush()
	x.checkReplicas()
	for i, c := range x.live[:x.left] {
		m.add(&x.signed[i], c.Chunk.ID, c.CAC[:]) // signedHash
	}
	m.flush()
	for i, c := range x.live[:x.left] {
		m.add(&c.digest, []byte(personalPrefix), x.signed[i][:]) // personalDigest
	}
	m.flush()
	clear(x.live[:x.left])
}

// checkReplicas takes out the chunks that checkReplica refuses.
func (x *exam) checkReplicas() {
	n := 0
	for _, c := range x.live[:x.left] {
		if c.Err = checkReplica((*Hash)(c.Chunk.ID), (*Owner)(c.Chunk.Owner), &c.CAC); c.Err != nil {
			c.CAC = Hash{}
			continue
		}
		x.live[n] = c
		n++
	}
	clear(x.live[n:x.left])
	x.left = n
}
