package wire

import "google.golang.org/protobuf/encoding/protowire"

// Wire types, to be joined with a field number shifted by 3 into the tag by
// which the parsers switch.
const (
	varintType = uint64(protowire.VarintType)
	bytesType  = uint64(protowire.BytesType)
)

// fields walks over the fields of one message without allocating. After next
// has returned false, err says whether the message ended where it should.
type fields struct {
	name string // of the message, for errors
	msg  []byte
	base int // offset of msg in the outermost message
	pos  int // of the next field in msg

	tag    uint64 // number << 3 | wire type
	start  int    // of the field in msg
	num    uint64 // value of a varint field
	val    []byte // value of a bytes field, capped to its length
	valPos int    // of val in msg

	err error
}

func scan(name string, msg []byte) fields { return fields{name: name, msg: msg} }

// sub walks over the embedded message that the current field holds.
func (f *fields) sub(name string) fields {
	return fields{name: name, msg: f.val, base: f.base + f.valPos}
}

// end walks over what is left and says whether it decodes. It is for a field
// that a later one may replace, so that only the last one costs memory.
func (f fields) end() error {
	for f.next() {
	}
	return f.err
}

// next reads one field and says whether there was one.
func (f *fields) next() bool {
	if f.err != nil || f.pos == len(f.msg) {
		return false
	}
	f.start = f.pos
	tag, n := protowire.ConsumeVarint(f.msg[f.pos:])
	if n < 0 {
		return f.fail("cut or overlong tag")
	}
	if number := tag >> 3; number < 1 || number > uint64(protowire.MaxValidNumber) {
		return f.fail("field number out of range")
	}
	f.tag = tag
	f.pos += n
	switch protowire.Type(tag & 7) {
	case protowire.VarintType:
		f.num, n = protowire.ConsumeVarint(f.msg[f.pos:])
		if n < 0 {
			return f.fail("cut or overlong varint")
		}
		f.pos += n
	case protowire.BytesType:
		size, n := protowire.ConsumeVarint(f.msg[f.pos:])
		if n < 0 {
			return f.fail("cut or overlong length")
		}
		f.pos += n
		if size > uint64(len(f.msg)-f.pos) {
			return f.fail("length beyond the message's end")
		}
		f.valPos = f.pos
		f.pos += int(size)
		f.val = f.msg[f.valPos:f.pos:f.pos]
	case protowire.Fixed32Type:
		return f.skip(4)
	case protowire.Fixed64Type:
		return f.skip(8)
	default:
		return f.fail("wire type that proto3 lacks")
	}
	return true
}

func (f *fields) skip(n int) bool {
	if n > len(f.msg)-f.pos {
		return f.fail("cut number")
	}
	f.pos += n
	return true
}

// fail ends the walk at the current field.
func (f *fields) fail(reason string) bool {
	f.err = f.fault(f.start, reason)
	return false
}

// fault returns an error about the byte at pos of this message.
func (f *fields) fault(pos int, reason string) error {
	return &SyntaxError{Message: f.name, Offset: f.base + pos, Reason: reason}
}

// enum returns the current varint as an enum of one byte, 0 if none holds it.
func (f *fields) enum() uint8 {
	if v := int32(f.num); v >= 0 && v <= 255 {
		return uint8(v)
	}
	return 0
}

// The append functions below leave out what is zero, as proto3 does for fields
// without presence.

func appendUint(dst []byte, tag, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return appendPresent(dst, tag, v)
}

// appendPresent writes v even if it is zero: its presence says something.
func appendPresent(dst []byte, tag, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendVarint(dst, tag), v)
}

func appendBool(dst []byte, tag uint64, v bool) []byte {
	if !v {
		return dst
	}
	return appendPresent(dst, tag, 1)
}

func appendBytes(dst []byte, tag uint64, v []byte) []byte {
	if len(v) == 0 {
		return dst
	}
	return appendEntry(dst, tag, v)
}

// appendEntry writes v even if it is empty, as an entry of a list is.
func appendEntry(dst []byte, tag uint64, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendVarint(dst, tag), v)
}

// appendMessage writes what body appends as an embedded message. Lengths are
// short, so the body is moved once instead of being measured first.
func appendMessage(dst []byte, tag uint64, body func([]byte) []byte) []byte {
	dst = protowire.AppendVarint(dst, tag)
	at := len(dst)
	dst = body(dst)
	size := len(dst) - at
	prefix := protowire.SizeVarint(uint64(size))
	dst = append(dst, make([]byte, prefix)...)
	copy(dst[at+prefix:], dst[at:at+size])
	protowire.AppendVarint(dst[:at], uint64(size))
	return dst
}

func sizeUint(tag, v uint64) int {
	return protowire.SizeVarint(tag) + protowire.SizeVarint(v)
}

func sizeBytes(tag uint64, n int) int {
	if n == 0 {
		return 0
	}
	return protowire.SizeVarint(tag) + protowire.SizeBytes(n)
}
