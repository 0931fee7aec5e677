package wire

// Probe asks the receiver's subtree, or with Up its ancestors too, for a free
// slot. A plain probe, of a foreign node, has a depth alone; its ID is 0.
//
//	1   depth        uint32
//	100 id           uint64
//	101 budget       uint32
//	102 hops         uint32
//	103 up           bool
//	104 deadline_ms  uint32
//	105 bound_band   uint32
//	106 asker        bytes, 32
//	107 childless    bool
//
// (PROTOCOL §3, §6 Probe; §5 Probe and Walkers)
type Probe struct {
	Depth      uint32 // the receiver's
	ID         uint64 // the sender's, unique on this stream; 0: plain
	Budget     uint32 // the receiver's share of the origin's
	Hops       uint32 // counted by package probe
	Up         bool
	DeadlineMS uint32 // milliseconds that the sender waits for the answer
	// BoundBand and Asker are the rank that candidates must stay below. An asker
	// of another size than 32 bytes is none.
	BoundBand uint32
	HasAsker  bool
	Asker     Overlay
	Childless bool // the asker has no children: no bound holds
}

const (
	probeDepth      = 1<<3 | varintType
	probeID         = 100<<3 | varintType
	probeBudget     = 101<<3 | varintType
	probeHops       = 102<<3 | varintType
	probeUp         = 103<<3 | varintType
	probeDeadlineMS = 104<<3 | varintType
	probeBoundBand  = 105<<3 | varintType
	probeAsker      = 106<<3 | bytesType
	probeChildless  = 107<<3 | varintType
)

// AppendProbe appends a Broadcast message with the probe p to dst.
func AppendProbe(dst []byte, p *Probe) []byte {
	return appendMessage(dst, broadcastProbe, p.append)
}

func (p *Probe) append(dst []byte) []byte {
	dst = appendUint(dst, probeDepth, uint64(p.Depth))
	dst = appendUint(dst, probeID, p.ID)
	dst = appendUint(dst, probeBudget, uint64(p.Budget))
	dst = appendUint(dst, probeHops, uint64(p.Hops))
	dst = appendBool(dst, probeUp, p.Up)
	dst = appendUint(dst, probeDeadlineMS, uint64(p.DeadlineMS))
	dst = appendUint(dst, probeBoundBand, uint64(p.BoundBand))
	if p.HasAsker {
		dst = appendEntry(dst, probeAsker, p.Asker[:])
	}
	return appendBool(dst, probeChildless, p.Childless)
}

func (p *Probe) parse(f fields) error {
	*p = Probe{}
	for f.next() {
		switch f.tag {
		case probeDepth:
			p.Depth = uint32(f.num)
		case probeID:
			p.ID = f.num
		case probeBudget:
			p.Budget = uint32(f.num)
		case probeHops:
			p.Hops = uint32(f.num)
		case probeUp:
			p.Up = f.num != 0
		case probeDeadlineMS:
			p.DeadlineMS = uint32(f.num)
		case probeBoundBand:
			p.BoundBand = uint32(f.num)
		case probeAsker:
			if p.HasAsker = len(f.val) == len(p.Asker); p.HasAsker {
				p.Asker = Overlay(f.val)
			} else {
				p.Asker = Overlay{}
			}
		case probeChildless:
			p.Childless = f.num != 0
		}
	}
	return f.err
}
