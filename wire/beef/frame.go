package beef

import "slices"

// Frame is an object frame: a header and, as payload, a submission record
// verbatim or a bare object (PROTOCOL §7 Layouts).
//
//	offset size field
//	     0   92 Header, FrameVer 09, length = payload length
//	    92    … payload
type Frame struct {
	Header
	// Payload is at least one byte and fewer than 2^32. After parsing it is a
	// view into the input.
	Payload []byte
}

// ParseFrame decodes one object frame that fills b. It checks the frame alone:
// what the payload holds is ParsePayload's to say, and whether ContentID is the
// payload's was checked by the ingress, and is by the Reassembler.
//
// The error is a *FaultError: ErrShort for a cut frame, ErrRejected for an
// empty payload, ErrMalformed otherwise.
func ParseFrame(b []byte) (Frame, error) {
	var frame Frame
	length, f := parseHeader(&frame.Header, b, FrameVerObject)
	if !f.none() {
		return Frame{}, f.raise()
	}
	if length == 0 {
		return Frame{}, rejected(88, reasonPayloadLen, 0).raise()
	}
	body := b[HeaderSize:]
	if uint64(len(body)) < uint64(length) {
		return Frame{}, truncated(HeaderSize).raise()
	}
	if uint64(len(body)) > uint64(length) {
		return Frame{}, malformed(HeaderSize+int(length), reasonTrailing, 0).raise()
	}
	frame.Payload = body[:length:length]
	return frame, nil
}

// Size returns the length of the encoded frame in bytes.
func (f *Frame) Size() int { return HeaderSize + len(f.Payload) }

// AppendFrame appends the encoded frame to dst.
func AppendFrame(dst []byte, f *Frame) []byte {
	dst = slices.Grow(dst, f.Size())
	return append(AppendHeader(dst, f), f.Payload...)
}

// AppendHeader appends the frame's HeaderSize bytes without its payload, for a
// writer that sends the payload from where it lies.
func AppendHeader(dst []byte, f *Frame) []byte {
	return appendHeader(dst, &f.Header, FrameVerObject, len(f.Payload))
}
