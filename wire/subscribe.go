package wire

// Subscribe asks for the cohort of a topic. From a foreign node, one that does
// not know PROTOCOL §6, Version is 0 and so are the fields between Auth and it.
//
//	1   topic      bytes, 32
//	2   auth       PublisherAuth
//	100 band       uint32, present once the sender has a place
//	101 relays     bool
//	102 childless  bool
//	103 round      uint32
//	104 named      bool
//	105 displace   bool
//	106 version    uint32
//
// (PROTOCOL §3, §6 Subscribe; §5 Join and Heal)
type Subscribe struct {
	Topic Topic
	Auth  *Auth // nil if absent: the sender does not publish
	// HasBand tells a node that looks for another parent from one that lost its
	// stream or has no place yet.
	HasBand bool
	// Band is the sender's, the upper half of the rank that its parents stay below.
	Band uint32
	// Relays says that the sender takes children.
	Relays bool
	// Childless says that it has none now, so that it may re-rank.
	Childless bool
	// Round counts the sender's fruitless searches.
	Round uint32
	// Named says that the receiver was named as a candidate: it answers at once.
	Named bool
	// Displace asks the receiver to move one of its children.
	Displace bool
	// Version is 1 for this table, 0 for a foreign sender.
	Version uint32
}

const (
	subscribeTopic     = 1<<3 | bytesType
	subscribeAuth      = 2<<3 | bytesType
	subscribeBand      = 100<<3 | varintType
	subscribeRelays    = 101<<3 | varintType
	subscribeChildless = 102<<3 | varintType
	subscribeRound     = 103<<3 | varintType
	subscribeNamed     = 104<<3 | varintType
	subscribeDisplace  = 105<<3 | varintType
	subscribeVersion   = 106<<3 | varintType
)

// Append appends the Subscribe message to dst. Band is written, be it 0, iff
// HasBand is set.
func (x *Subscribe) Append(dst []byte) []byte {
	dst = appendBytes(dst, subscribeTopic, x.Topic[:])
	if x.Auth != nil {
		dst = appendMessage(dst, subscribeAuth, x.Auth.append)
	}
	if x.HasBand {
		dst = appendPresent(dst, subscribeBand, uint64(x.Band))
	}
	dst = appendBool(dst, subscribeRelays, x.Relays)
	dst = appendBool(dst, subscribeChildless, x.Childless)
	dst = appendUint(dst, subscribeRound, uint64(x.Round))
	dst = appendBool(dst, subscribeNamed, x.Named)
	dst = appendBool(dst, subscribeDisplace, x.Displace)
	return appendUint(dst, subscribeVersion, uint64(x.Version))
}

// parseSubscribe reads the message that f stands before. hasTopic says whether
// its topic has 32 bytes, without which it is no Subscribe.
func parseSubscribe(f fields) (x *Subscribe, hasTopic bool, err error) {
	x = new(Subscribe)
	var auth fields
	for f.next() {
		switch f.tag {
		case subscribeTopic:
			if hasTopic = len(f.val) == len(x.Topic); hasTopic {
				x.Topic = Topic(f.val)
			}
		case subscribeAuth:
			auth = f.sub("PublisherAuth")
			if err = auth.end(); err != nil {
				return nil, false, err
			}
		case subscribeBand:
			x.HasBand, x.Band = true, uint32(f.num)
		case subscribeRelays:
			x.Relays = f.num != 0
		case subscribeChildless:
			x.Childless = f.num != 0
		case subscribeRound:
			x.Round = uint32(f.num)
		case subscribeNamed:
			x.Named = f.num != 0
		case subscribeDisplace:
			x.Displace = f.num != 0
		case subscribeVersion:
			x.Version = uint32(f.num)
		}
	}
	if f.err != nil {
		return nil, false, f.err
	}
	x.Auth, err = parseAuth(auth)
	return x, hasTopic, err
}
