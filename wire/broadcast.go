package wire

// Kind says what a broadcast frame holds.
type Kind uint8

// Kinds, numbered as the members of Broadcast's oneof.
const (
	KindNone     Kind = 0 // nothing that PROTOCOL §3 names: ignore it
	KindSoc      Kind = 1
	KindReparent Kind = 2
	KindProbe    Kind = 3
	KindFound    Kind = 4
	KindStandby  Kind = 100
)

// String returns the name of the oneof's member.
func (k Kind) String() string {
	switch k {
	case KindNone:
		return "none"
	case KindStandby:
		return "standby"
	}
	return enumName("kind", uint8(k), "soc", "reparent", "probe", "found")
}

// Broadcast is any frame after the handshake; Kind says which of its members
// is set. A Publish is the same bytes as a Broadcast with a soc.
//
//	1 soc       Soc
//	2 reparent  Reparent
//	3 probe     Probe
//	4 found     Candidates
//	100 standby Standby
//
// (PROTOCOL §3, §6 Broadcast)
type Broadcast struct {
	Kind     Kind
	Soc      Soc
	Reparent Reparent
	Probe    Probe
	Found    Found
	Standby  Standby
}

const (
	broadcastSoc      = 1<<3 | bytesType
	broadcastReparent = 2<<3 | bytesType
	broadcastProbe    = 3<<3 | bytesType
	broadcastFound    = 4<<3 | bytesType
	broadcastStandby  = 100<<3 | bytesType
)

// Parse reads a Broadcast message into b and forgets what b held. Soc and
// Reparent point into msg, Found does not. All members have to decode and the
// last one counts. On error, a [SyntaxError], b is empty.
func (b *Broadcast) Parse(msg []byte) error {
	*b = Broadcast{}
	f := scan("Broadcast", msg)
	var found fields
	var err error
	for err == nil && f.next() {
		switch f.tag {
		case broadcastSoc:
			b.Kind = KindSoc
			err = b.Soc.parse(f.sub("Soc"))
		case broadcastReparent:
			b.Kind = KindReparent
			err = b.Reparent.parse(f.sub("Reparent"))
		case broadcastProbe:
			b.Kind = KindProbe
			err = b.Probe.parse(f.sub("Probe"))
		case broadcastFound:
			b.Kind = KindFound
			found = f.sub("Candidates")
			err = b.Found.parse(found, 0) // allocates only if no other follows
		case broadcastStandby:
			b.Kind = KindStandby
			err = b.Standby.parse(f.sub("Standby"))
		}
	}
	if err == nil {
		err = f.err
	}
	if err == nil && b.Kind == KindFound {
		err = b.Found.parse(found, MaxCandidates)
	}
	if err != nil {
		*b = Broadcast{}
		return err
	}
	switch b.Kind {
	case KindSoc:
		b.Soc.Unknown = len(msg) - b.Soc.size()
		*b = Broadcast{Kind: KindSoc, Soc: b.Soc}
	case KindReparent:
		*b = Broadcast{Kind: KindReparent, Reparent: b.Reparent}
	case KindProbe:
		*b = Broadcast{Kind: KindProbe, Probe: b.Probe}
	case KindFound:
		*b = Broadcast{Kind: KindFound, Found: b.Found}
	case KindStandby:
		*b = Broadcast{Kind: KindStandby, Standby: b.Standby}
	}
	return nil
}
