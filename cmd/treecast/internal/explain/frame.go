package explain

import (
	"encoding/binary"
	"net/netip"

	"treecast/wire/beef"
)

// Values of the byte after the protocol version that are not frames of this
// plane: messages of BRC-126, and the transaction frame of BRC-124.
const (
	frameVerTransaction = 0x02
	frameVerNackFirst   = 0x10
	frameVerNackLast    = 0x13
)

// objectFrame lays out one object frame or fragment (PROTOCOL §7 Layouts).
func (l *layout) objectFrame() {
	l.unit.Kind = "object frame"
	start := l.pos
	l.take("magic", 4)
	if b, ok := l.take("protocol version", 2); ok {
		if v := binary.BigEndian.Uint16(b); v != 0x02BF {
			l.note("protocol version %04x is not 02bf; receivers do not check it", v)
		}
	}
	version, ok := l.take("frame version", 1)
	if !ok {
		_, err := beef.FrameVersion(l.data[start:])
		l.judge(start, err)
		return
	}
	switch v := version[0]; {
	case v == beef.FrameVerObject:
		l.say("09: object frame")
		l.frameHeader()
		l.wholeFrame(start)
	case v == beef.FrameVerFragment:
		l.unit.Kind = "fragment"
		l.say("03: fragment")
		l.frameHeader()
		l.fragment(start)
	default:
		l.unit.Kind = "frame of another plane"
		_, err := beef.FrameVersion(l.data[start:])
		l.judge(start, err)
		switch {
		case v >= frameVerNackFirst && v <= frameVerNackLast:
			l.note("%02x is a message of BRC-126 retransmission, in place of which treecast has its own recovery", v)
		case v == frameVerTransaction:
			l.note("02 is a transaction frame of BRC-124, not one of the BEEF plane")
		}
	}
}

// frameHeader walks over what object frame and fragment share behind the
// version, up to the length.
func (l *layout) frameHeader() {
	if b, ok := l.take("DeliverCount", 1); ok {
		l.say("%d", b[0])
		if b[0] == 0 {
			l.note("DeliverCount 0 reads as 1")
		}
	}
	l.take("ContentID", 32)
	l.take("HashKey", 8)
	if b, ok := l.take("SeqNum", 8); ok {
		l.say("%d", binary.BigEndian.Uint64(b))
		if binary.BigEndian.Uint64(b) == 0 {
			l.note("SeqNum 0: not stamped by an ingress yet")
		}
	}
	if b, ok := l.take("TopicID", 32); ok {
		l.group(beef.TopicID(b))
	}
	if b, ok := l.take("length", 4); ok {
		l.say("%d", binary.BigEndian.Uint32(b))
	}
}

// group derives the group, and so the cohort, that carries a topic (PROTOCOL §7).
func (l *layout) group(t beef.TopicID) {
	group, err := beef.GroupIndex(t, l.shardBits)
	if err != nil {
		panic(err) // the command checks the bits
	}
	l.derive("group", "%#x, %v at %d shard bits", group, netip.AddrFrom16(beef.GroupAddress(group)), l.shardBits)
}

// bodyLength is the length field of a header that is there, as layout has it.
func (l *layout) bodyLength(start int) int {
	return int(binary.BigEndian.Uint32(l.data[start+beef.HeaderSize-4:]))
}

// wholeFrame lays out an object frame's payload and judges all of it as the
// door of an ingress does, ContentID and TopicID included (PROTOCOL §7 Ingress
// doors).
func (l *layout) wholeFrame(start int) {
	end := len(l.data)
	if l.fault == nil {
		l.payload(l.bodyLength(start))
		end = min(len(l.data), start+beef.HeaderSize+l.bodyLength(start))
	}
	s, err := beef.ParseSubmission(l.data[start:end], 0)
	l.judge(start, err)
	if err != nil {
		return
	}
	l.derive("pair key", "%x", beef.PairKey(s.Frame.ContentID, s.Frame.TopicID))
	names := max(1, s.Payload.Record.TopicCount())
	if count := int(l.data[start+7]); count > names {
		l.note("DeliverCount %d is above the %d names present and reads as %d", count, names, names)
	}
}

func (l *layout) fragment(start int) {
	for _, f := range []struct {
		name string
		size int
	}{{"OrigPayloadLen", 4}, {"FragIndex", 2}, {"FragTotal", 2}, {"OrigFrameVer", 1}, {"reserved", 3}} {
		b, ok := l.take(f.name, f.size)
		switch {
		case !ok:
		case f.size == 4:
			l.say("%d", binary.BigEndian.Uint32(b))
		case f.size == 2:
			l.say("%d", binary.BigEndian.Uint16(b))
		}
	}
	end := len(l.data)
	if l.fault == nil {
		l.take("fragment data", l.bodyLength(start))
		end = min(len(l.data), start+beef.FragmentHeaderSize+l.bodyLength(start))
	}
	_, err := beef.ParseFragment(l.data[start:end])
	l.judge(start, err)
}
