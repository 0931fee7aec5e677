package explain

import (
	"encoding/binary"
	"errors"

	"treecast/wire/soc"
)

// Offsets in the data form of a single-owner chunk, which begins with its id
// (PROTOCOL §4).
const (
	socSignature = soc.IDSize
	socSpan      = socSignature + soc.SigSize
	socPayload   = socSpan + soc.SpanSize
)

// soc lays out id, signature, span and payload. The owner follows from the
// signature; whether it is the right one only an address can tell.
func (l *layout) soc(address *[32]byte) {
	l.unit.Kind = "single-owner chunk"
	l.take("id", soc.IDSize)
	l.take("signature", soc.SigSize)
	l.takeContent()
	if l.fault != nil {
		return
	}
	chunk := soc.Chunk{
		ID:        l.data[:socSignature],
		Signature: l.data[socSignature:socSpan],
		Span:      l.data[socSpan:socPayload],
		Payload:   l.data[socPayload:],
		Owner:     make([]byte, soc.OwnerSize), // any owner has the right form
	}
	if err := soc.CheckCanonical(&chunk); err != nil {
		l.fail(faultInSOC(&chunk, err), "%v", err)
		return
	}
	id := soc.Hash(chunk.ID)
	cac := soc.CACAddress(chunk.Span, chunk.Payload)
	signed := soc.Keccak256(id[:], cac[:])
	owner, err := soc.RecoverOwner(&signed, chunk.Signature)
	if err != nil {
		l.fail(socSignature, "%v", err)
		return
	}
	l.derive("signed by", "%x", owner)
	l.derive("wrapped address", "%x", cac)
	l.derive("address", "%x", soc.Address(&id, &owner))
	chunk.Owner = owner[:]
	if _, err := soc.Verify(&chunk); err != nil {
		l.fail(0, "%v", err) // the rule of replica chunks, on the id
		return
	}
	if address != nil && soc.Address(&id, &owner) != *address {
		l.fail(socSignature, "forged: not signed by the owner of address %x", *address)
	}
}

// takeContent takes the span and the rest as payload.
func (l *layout) takeContent() {
	if b, ok := l.take("span", soc.SpanSize); ok {
		l.say("%d", binary.LittleEndian.Uint64(b))
	}
	if rest := len(l.data) - l.pos; rest > 0 && l.fault == nil {
		l.take("payload", rest)
	}
}

// faultInSOC finds the field that CheckCanonical refused.
func faultInSOC(c *soc.Chunk, err error) int {
	switch {
	case !errors.Is(err, soc.ErrNonCanonical):
		return 0
	case c.Signature[64] != 27 && c.Signature[64] != 28:
		return socSpan - 1
	case highS(c.Signature):
		return socSignature + 32
	case len(c.Payload) == 0:
		return socPayload
	case len(c.Payload) > soc.MaxPayload:
		return socPayload + soc.MaxPayload
	}
	return socSpan
}

// highS says whether a signature with a right v is refused for its form, which
// leaves s. What was signed does not matter for that.
func highS(sig []byte) bool {
	_, err := soc.RecoverOwner(&soc.Hash{}, sig)
	return errors.Is(err, soc.ErrNonCanonical)
}

// cac lays out span and payload.
func (l *layout) cac(address *[32]byte) {
	l.unit.Kind = "content-addressed chunk"
	l.takeContent()
	if l.fault != nil {
		return
	}
	span, payload := l.data[:soc.SpanSize], l.data[soc.SpanSize:]
	if len(payload) > soc.MaxPayload {
		l.fail(soc.SpanSize+soc.MaxPayload, "payload of %d bytes, a chunk holds %d", len(payload), soc.MaxPayload)
		return
	}
	if n := binary.LittleEndian.Uint64(span); !fitsSpan(n, len(payload)) {
		l.note("span %d over a payload of %d bytes: an address, but not that of one piece of content", n, len(payload))
	}
	got := soc.CACAddress(span, payload)
	l.derive("address", "%x", got)
	if address != nil && got != *address {
		l.fail(0, "the address is not %x", *address)
	}
}
