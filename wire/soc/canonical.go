package soc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrNonCanonical says that a chunk is not in the one encoding that is accepted
// (PROTOCOL §4 One encoding). The wrapping error names the rule. Whoever sent it
// may have it from a client with other rules, so it is dropped but nobody is
// blamed.
var ErrNonCanonical = errors.New("soc: non-canonical chunk")

// halfOrder is half the order of the curve's group, rounded down, big endian:
// the greatest s of a canonical signature. For each signature there is a second
// one with order-s in place of s, which anybody can compute.
var halfOrder = [32]byte{
	0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
}

// The two values of a signature's last byte: the parity of the nonce point.
const (
	vEven = 27
	vOdd  = 28
)

// CheckCanonical checks a chunk's form as far as no hash is needed; the cost is
// a few comparisons. It returns nil or an error wrapping ErrNonCanonical:
//
//   - a field of another size than Chunk tells;
//   - v other than 27 and 28, or s above half the group order;
//   - a span of at most MaxPayload that is not the payload's length;
//   - a longer span, which makes the payload a list of hashes, over a payload
//     that is no whole number of segments or ends in a segment of zeros.
//
// The span rules exist because the tree is zero padded: zeros appended or cut
// off at the end leave address and signature as they are.
func CheckCanonical(c *Chunk) error {
	if len(c.ID) != IDSize {
		return fmt.Errorf("%w: id of %d bytes", ErrNonCanonical, len(c.ID))
	}
	if len(c.Owner) != OwnerSize {
		return fmt.Errorf("%w: owner of %d bytes", ErrNonCanonical, len(c.Owner))
	}
	if err := checkSignature(c.Signature); err != nil {
		return err
	}
	return checkContent(c.Span, c.Payload)
}

func checkSignature(sig []byte) error {
	if len(sig) != SigSize {
		return fmt.Errorf("%w: signature of %d bytes", ErrNonCanonical, len(sig))
	}
	if v := sig[SigSize-1]; v != vEven && v != vOdd {
		return fmt.Errorf("%w: signature with v %d", ErrNonCanonical, v)
	}
	if bytes.Compare(sig[32:64], halfOrder[:]) > 0 {
		return fmt.Errorf("%w: signature with high s", ErrNonCanonical)
	}
	return nil
}

func checkContent(span, payload []byte) error {
	if len(span) != SpanSize {
		return fmt.Errorf("%w: span of %d bytes", ErrNonCanonical, len(span))
	}
	if len(payload) == 0 || len(payload) > MaxPayload {
		return fmt.Errorf("%w: payload of %d bytes", ErrNonCanonical, len(payload))
	}
	length := binary.LittleEndian.Uint64(span)
	if length <= MaxPayload {
		if length != uint64(len(payload)) {
			return fmt.Errorf("%w: span %d over a payload of %d bytes", ErrNonCanonical, length, len(payload))
		}
		return nil
	}
	if len(payload)%SegmentSize != 0 {
		return fmt.Errorf("%w: span %d over %d bytes, no whole number of segments", ErrNonCanonical, length, len(payload))
	}
	if Hash(payload[len(payload)-SegmentSize:]) == zeroRoots[0] {
		return fmt.Errorf("%w: span %d over a payload that ends in a zero segment", ErrNonCanonical, length)
	}
	return nil
}
