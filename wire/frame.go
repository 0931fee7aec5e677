package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// MaxMessage is the longest message a frame may hold, in bytes (PROTOCOL §2).
	MaxMessage = 16 << 10
	// maxPrefix is the length of the longest valid length prefix.
	maxPrefix = 3
)

// AppendFrame appends msg behind its length prefix to dst. A message of another
// length than 1..MaxMessage is the caller's mistake and panics.
func AppendFrame(dst, msg []byte) []byte {
	checkLength(len(msg))
	return append(protowire.AppendVarint(dst, uint64(len(msg))), msg...)
}

func checkLength(n int) {
	if n < 1 || n > MaxMessage {
		panic(fmt.Sprintf("wire: message of %d bytes", n))
	}
}

// ParseLength reads the length prefix at the start of b: length bytes of message
// follow its n bytes. An error is [ErrShort] or wraps [ErrMalformed]: a length
// is 1..MaxMessage and its varint as short as can be (PROTOCOL §2).
func ParseLength(b []byte) (length, n int, err error) {
	for n < maxPrefix {
		if n == len(b) {
			return 0, 0, ErrShort
		}
		c := int(b[n])
		length |= c & 0x7f << (7 * n)
		n++
		if c >= 0x80 {
			continue
		}
		if n > 1 && c == 0 {
			return 0, 0, fmt.Errorf("%w: length in a padded varint", ErrMalformed)
		}
		if length == 0 || length > MaxMessage {
			return 0, 0, fmt.Errorf("%w: frame length %d", ErrMalformed, length)
		}
		return length, n, nil
	}
	return 0, 0, fmt.Errorf("%w: frame length above %d", ErrMalformed, MaxMessage)
}
