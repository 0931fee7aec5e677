package beef

import "encoding/binary"

// DeliveryHeaderSize is what a delivery record has before its payload, in
// bytes (PROTOCOL §7 Layouts).
const DeliveryHeaderSize = 36

// Delivery is a delivery record: what an edge streams to a consumer for one
// object (PROTOCOL §7 Layouts; integers big endian).
//
//	offset size field
//	     0   32 TopicID
//	    32    4 payload length, at least 1
//	    36    … payload, the frame's
type Delivery struct {
	// TopicID is the elected topic that matched; to an aggregator the frame's.
	TopicID TopicID
	// Payload is the frame's payload verbatim. After parsing it is a view.
	Payload []byte
}

// ParseDelivery decodes one delivery record that fills b, payload included.
//
// The error is a *FaultError: ErrShort for a cut record, ErrRejected for a
// payload that is neither record nor object, ErrMalformed otherwise.
func ParseDelivery(b []byte) (Delivery, error) {
	d, size, f := judgeDelivery(b, noBound)
	if f.none() && size < int64(len(b)) {
		f = malformed(int(size), reasonTrailing, 0)
	}
	if !f.none() {
		return Delivery{}, f.raise()
	}
	return d, nil
}

// AppendDelivery appends the encoded record to dst. The payload is at least one
// byte and fewer than 2^32.
func AppendDelivery(dst []byte, d *Delivery) []byte {
	return append(AppendDeliveryHeader(dst, d), d.Payload...)
}

// AppendDeliveryHeader appends the record's DeliveryHeaderSize bytes without
// its payload, for a writer that sends the payload from where it lies.
func AppendDeliveryHeader(dst []byte, d *Delivery) []byte {
	dst = append(dst, d.TopicID[:]...)
	return binary.BigEndian.AppendUint32(dst, uint32(len(d.Payload)))
}

// judgeDelivery judges the record at the start of b. size is its length as soon
// as that is known and within the bound, else 0.
func judgeDelivery(b []byte, bound int64) (d Delivery, size int64, f fault) {
	if len(b) < 32 {
		return d, 0, truncated(0)
	}
	if len(b) < DeliveryHeaderSize {
		return d, 0, truncated(32)
	}
	length := binary.BigEndian.Uint32(b[32:])
	if length == 0 {
		return d, 0, malformed(32, reasonPayloadLen, 0)
	}
	if bound != noBound && int64(length) > bound+MaxEnvelope {
		return d, 0, malformed(32, reasonOversize, uint64(length))
	}
	size = DeliveryHeaderSize + int64(length)
	if int64(len(b)) < size {
		return d, size, truncated(DeliveryHeaderSize)
	}
	payload := b[DeliveryHeaderSize:size:size]
	if _, f := judgePayload(payload, int64(length), bound); !f.none() {
		return d, size, f.at(DeliveryHeaderSize)
	}
	copy(d.TopicID[:], b)
	d.Payload = payload
	return d, size, f
}
