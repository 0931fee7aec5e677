package explain

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// bpsFrame lays out one length-prefixed message (PROTOCOL §2, §3).
func (l *layout) bpsFrame() {
	l.unit.Kind = "BPS frame"
	start := l.pos
	size, n, err := wire.ParseLength(l.data[start:])
	if err != nil {
		l.take("length", min(3, len(l.data)-start))
		if errors.Is(err, wire.ErrShort) {
			l.fail(start, "length is cut")
		} else {
			l.fail(start, "%v", err)
		}
		return
	}
	l.take("length", n)
	l.say("%d", size)
	if size > len(l.data)-l.pos {
		l.fail(l.pos, "message is cut: %d of %d bytes", len(l.data)-l.pos, size)
	}
	base := l.pos
	msg := l.data[base:min(base+size, len(l.data))]
	m := messageOf(msg)
	l.unit.Kind = "BPS " + m.name
	l.messageFields(m, msg, base)
	l.pos = base + len(msg)
	if l.fault == nil {
		l.judgeMessage(m, msg, base)
	}
}

// messageOf tells the messages apart that carry no tag. Some of them can be the
// same bytes; then the more frequent one is meant (PROTOCOL §2).
func messageOf(msg []byte) *message {
	number, typ, n := protowire.ConsumeTag(msg)
	if n < 0 {
		return broadcastMessage
	}
	if number == 1 && typ == protowire.VarintType {
		return ackMessage
	}
	val, m := protowire.ConsumeBytes(msg[n:])
	if typ != protowire.BytesType || m < 0 {
		return broadcastMessage
	}
	switch {
	case number == 1 && len(val) == len(wire.Topic{}):
		return subscribeMessage
	case number == 1 && isSoc(val):
		return broadcastMessage
	case number == 1, number == 2 && isSubscribe(val):
		if first, err := wire.ParseFirst(msg); err == nil && first.Wrapped {
			return helloMessage
		}
		if number == 1 {
			return openMessage
		}
	}
	return broadcastMessage
}

// isSoc: bytes of a chunk's sizes where a CohortSpec has numbers and an Open a
// longer message.
func isSoc(val []byte) bool {
	var b wire.Broadcast
	framed := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), val)
	return b.Parse(framed) == nil && (len(b.Soc.Owner) == soc.OwnerSize || len(b.Soc.Signature) == soc.SigSize)
}

// isSubscribe: more than a Reparent, whose `to` is as long as a topic, can say.
func isSubscribe(val []byte) bool {
	first, err := wire.ParseFirst(val)
	return err == nil && first.Subscribe != nil && !first.Wrapped &&
		(first.Subscribe.Version != 0 || first.Subscribe.Auth != nil)
}

// messageFields lays out the fields of a message as far as they decode.
func (l *layout) messageFields(m *message, msg []byte, base int) {
	for at := 0; at < len(msg); {
		number, typ, n := protowire.ConsumeTag(msg[at:])
		if n < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(number, typ, msg[at+n:])
		if size < 0 {
			return
		}
		l.pos = base + at
		whole := n + size
		f, known := m.fields[uint64(number)]
		switch {
		case !known:
			l.add("unknown field", whole, protoNumber(number))
		case typ == protowire.VarintType && f.number != nil:
			v, _ := protowire.ConsumeVarint(msg[at+n:])
			l.add(f.name, whole, f.number(v))
		case typ == protowire.BytesType && f.number == nil:
			val, _ := protowire.ConsumeBytes(msg[at+n:])
			if f.sub == nil {
				l.add(f.name, whole, abbreviate(val))
				break
			}
			l.add(f.name, whole, f.sub.name)
			l.depth++
			l.messageFields(f.sub, val, base+at+whole-len(val))
			l.depth--
		default:
			l.add("unknown field", whole, protoNumber(number)+" of another type than "+f.name)
		}
		at += whole
	}
}

func protoNumber(n protowire.Number) string { return plain(uint64(n)) }

// judgeMessage asks package wire about a whole message.
func (l *layout) judgeMessage(m *message, msg []byte, base int) {
	var err error
	switch m {
	case ackMessage:
		var ack wire.Ack
		ack, err = wire.ParseAck(msg)
		if err == nil && ack.Spec != nil {
			l.judgeSpec(ack.Spec)
		}
	case broadcastMessage:
		var b wire.Broadcast
		err = b.Parse(msg)
		switch {
		case err != nil:
		case b.Kind == wire.KindNone:
			l.note("no member that is known: ignored")
		case b.Kind == wire.KindSoc:
			l.judgeSoc(&b.Soc)
		}
	default:
		var first wire.First
		first, err = wire.ParseFirst(msg)
		if err == nil && first.Open != nil {
			l.judgeSpec(&first.Open.Spec)
		}
	}
	if err == nil {
		return
	}
	if fault := (*wire.SyntaxError)(nil); errors.As(err, &fault) {
		l.fail(base+fault.Offset, "%s: %s", fault.Message, fault.Reason)
		return
	}
	l.fail(base, "%v", err)
}

// judgeSpec notes what a node would answer: an invalid spec is a refusal, not
// a fault of the frame (PROTOCOL §4 Spec validity).
func (l *layout) judgeSpec(spec *wire.Spec) {
	if err := tree.ValidateSpec(spec); err != nil {
		l.note("the spec would be answered REJECTED: %v", err)
	}
}

// judgeSoc checks a chunk as every node does before it forwards it.
func (l *layout) judgeSoc(s *wire.Soc) {
	if len(s.ID) != soc.IDSize {
		l.note("a short id: the signed one follows from the topic and the index, so the signature is not checked here")
		return
	}
	chunk := soc.Chunk{ID: s.ID, Owner: s.Owner, Signature: s.Signature, Span: s.Span, Payload: s.Payload}
	cac, err := soc.Verify(&chunk)
	if err != nil {
		l.fail(l.fieldOffset(badSocField(&chunk, err)), "%v", err)
		return
	}
	id, owner := soc.Hash(s.ID), soc.Owner(s.Owner)
	l.derive("wrapped address", "%x", cac)
	l.derive("address", "%x", soc.Address(&id, &owner))
}

// badSocField names the field that a verdict is about.
func badSocField(c *soc.Chunk, err error) string {
	switch {
	case errors.Is(err, soc.ErrForged):
		return "signature"
	case len(c.Owner) != soc.OwnerSize:
		return "owner"
	case len(c.Signature) != soc.SigSize:
		return "signature"
	case len(c.Span) != soc.SpanSize:
		return "span"
	}
	switch faultInSOC(c, err) {
	case 0:
		return "id"
	case socSpan:
		return "span"
	case socPayload, socPayload + soc.MaxPayload:
		return "payload"
	}
	return "signature"
}

// fieldOffset is where the last field called name begins, else the unit.
func (l *layout) fieldOffset(name string) int {
	for i := len(l.unit.Fields) - 1; i >= 0; i-- {
		if f := l.unit.Fields[i]; f.Name == name {
			return f.Offset
		}
	}
	return l.unit.Offset
}

// fitsBPS: frames to the last byte, the first of which is a known message.
func fitsBPS(b []byte) bool {
	first := true
	for len(b) > 0 {
		size, n, err := wire.ParseLength(b)
		if err != nil || size > len(b)-n {
			return false
		}
		if msg := b[n : n+size]; first && !decodes(msg) {
			return false
		}
		first = false
		b = b[n+size:]
	}
	return true
}

func decodes(msg []byte) bool {
	switch m := messageOf(msg); m {
	case ackMessage:
		_, err := wire.ParseAck(msg)
		return err == nil
	case broadcastMessage:
		var b wire.Broadcast
		return b.Parse(msg) == nil && b.Kind != wire.KindNone
	default:
		_, err := wire.ParseFirst(msg)
		return err == nil
	}
}

// seemsBPS: a length, and behind it the tag of a message's first field whose
// own length keeps within the message.
func seemsBPS(b []byte) bool {
	size, n, err := wire.ParseLength(b)
	if err != nil || n == len(b) {
		return false
	}
	msg := b[n:min(len(b), n+size)]
	number, typ, tag := protowire.ConsumeTag(msg)
	switch {
	case tag < 0 || number > 4:
		return false
	case typ == protowire.VarintType:
		return number == 1
	case typ != protowire.BytesType:
		return false
	}
	inner, m := protowire.ConsumeVarint(msg[tag:])
	return m > 0 && inner <= uint64(size-tag-m)
}
