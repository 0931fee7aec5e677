package beef

import (
	"encoding/binary"
	"slices"
)

// Fragment is one piece of an object frame's payload (PROTOCOL §7 Layouts;
// integers big endian).
//
//	offset size field
//	     0   92 Header, FrameVer 03, length = length of the data
//	    92    4 OrigPayloadLen
//	    96    2 FragIndex
//	    98    2 FragTotal
//	   100    1 OrigFrameVer 09
//	   101    3 zeros
//	   104    … data
//
// All fragments of a payload but the last carry the same number of bytes.
type Fragment struct {
	// Header is that of the object frame, save SeqNum, which each fragment has
	// its own of.
	Header
	// OrigLen is the length of the whole payload in bytes.
	OrigLen uint32
	// Index counts the fragments from 0 and is below Total.
	Index, Total uint16
	// Reserved is written as it is and not checked on receipt.
	Reserved [3]byte
	// Data is this fragment's part; a view after parsing.
	Data []byte
}

// ParseFragment decodes one fragment that fills b and whose numbers can be
// those of an evenly cut payload. It puts no bound on the payload; Reassembler
// does.
//
// The error is a *FaultError, ErrShort for a cut fragment and ErrMalformed
// otherwise.
func ParseFragment(b []byte) (Fragment, error) {
	var frag Fragment
	length, f := parseHeader(&frag.Header, b, FrameVerFragment)
	if !f.none() {
		return Fragment{}, f.raise()
	}
	if len(b) < FragmentHeaderSize {
		return Fragment{}, cutHeader(len(b)).raise()
	}
	frag.OrigLen = binary.BigEndian.Uint32(b[92:])
	frag.Index = binary.BigEndian.Uint16(b[96:])
	frag.Total = binary.BigEndian.Uint16(b[98:])
	frag.Reserved = [3]byte(b[101:104])
	body := b[FragmentHeaderSize:]
	switch {
	case length == 0:
		f = malformed(88, reasonPayloadLen, 0)
	case frag.OrigLen == 0:
		f = malformed(92, reasonOrigLen, 0)
	case frag.Total == 0 || uint32(frag.Total) > frag.OrigLen:
		f = malformed(98, reasonFragTotal, uint64(frag.Total))
	case frag.Index >= frag.Total:
		f = malformed(96, reasonFragIndex, uint64(frag.Index))
	case b[100] != FrameVerObject:
		f = malformed(100, reasonOrigVersion, uint64(b[100]))
	case uint64(len(body)) < uint64(length):
		f = truncated(FragmentHeaderSize)
	case uint64(len(body)) > uint64(length):
		f = malformed(FragmentHeaderSize+int(length), reasonTrailing, 0)
	}
	if f.none() {
		frag.Data = body[:length:length]
		if frag.stride() == 0 {
			f = malformed(88, reasonFragSize, uint64(length))
		}
	}
	if !f.none() {
		return Fragment{}, f.raise()
	}
	return frag, nil
}

// stride is how many bytes every fragment of the payload but the last carries,
// as this one alone tells; 0 when its numbers fit no even cut.
func (f *Fragment) stride() int64 {
	size, orig, before := int64(len(f.Data)), int64(f.OrigLen), int64(f.Total)-1
	stride, last := size, int64(f.Index) == before
	if last && before > 0 {
		if (orig-size)%before != 0 {
			return 0
		}
		stride = (orig - size) / before
	}
	rest := orig - stride*before
	if rest < 1 || rest > stride || last && rest != size {
		return 0
	}
	return stride
}

// AppendFragment appends the encoded fragment to dst.
func AppendFragment(dst []byte, f *Fragment) []byte {
	dst = slices.Grow(dst, FragmentHeaderSize+len(f.Data))
	return append(AppendFragmentHeader(dst, f), f.Data...)
}

// AppendFragmentHeader appends the fragment's FragmentHeaderSize bytes without
// its data.
func AppendFragmentHeader(dst []byte, f *Fragment) []byte {
	dst = appendHeader(dst, &f.Header, FrameVerFragment, len(f.Data))
	dst = binary.BigEndian.AppendUint32(dst, f.OrigLen)
	dst = binary.BigEndian.AppendUint16(dst, f.Index)
	dst = binary.BigEndian.AppendUint16(dst, f.Total)
	dst = append(dst, FrameVerObject)
	return append(dst, f.Reserved[:]...)
}
