package beef

import "encoding/binary"

// Version is the encoding of an object, told by its first four bytes. It says
// what a consumer can read, never what the object is about (PROTOCOL §7
// Layouts, Election). The zero Version is no version.
//
//	bytes     version
//	0100BEEF  BEEF (BRC-62)
//	0200BEEF  BEEF V2 (BRC-96)
//	01010101  Atomic BEEF (BRC-95)
type Version uint8

// The versions that an object may have.
const (
	VersionBEEF Version = iota + 1
	VersionBEEFV2
	VersionAtomic
)

// markerSize is the length of a marker in bytes.
const markerSize = 4

// MarkerOf returns the version of the object that starts at obj[0]; false when
// obj is shorter than a marker or starts with none of the table.
func MarkerOf(obj []byte) (Version, bool) {
	if len(obj) < markerSize {
		return 0, false
	}
	switch binary.BigEndian.Uint32(obj) {
	case 0x0100BEEF:
		return VersionBEEF, true
	case 0x0200BEEF:
		return VersionBEEFV2, true
	case 0x01010101:
		return VersionAtomic, true
	}
	return 0, false
}

// ParseVersion returns the version named as String names it.
func ParseVersion(name string) (Version, bool) {
	for v := VersionBEEF; v <= VersionAtomic; v++ {
		if v.String() == name {
			return v, true
		}
	}
	return 0, false
}

// String is the version's name in an election: beef, beefv2 or atomic.
func (v Version) String() string {
	switch v {
	case VersionBEEF:
		return "beef"
	case VersionBEEFV2:
		return "beefv2"
	case VersionAtomic:
		return "atomic"
	}
	return "none"
}

// judgeMarker judges the first bytes b of an object of size bytes.
func judgeMarker(b []byte, size int64) (Version, fault) {
	need := int(min(size, markerSize))
	if len(b) < need {
		return 0, truncated(0)
	}
	v, ok := MarkerOf(b[:need])
	if !ok {
		return 0, rejected(0, reasonMarker, leadingWord(b[:need]))
	}
	return v, fault{}
}

// leadingWord is b, at most four bytes, as a number for the text of an error.
func leadingWord(b []byte) uint64 {
	var w uint64
	for _, c := range b {
		w = w<<8 | uint64(c)
	}
	return w
}
