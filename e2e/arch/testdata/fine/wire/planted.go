// Package wire uses what wire alone may.
package wire

import (
	"io"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// Pool is shared memory, which wire may have.
var Pool sync.Pool

// Count is a number that many add to.
var Count atomic.Int64

// Read reads.
func Read(r io.Reader, b []byte) (int, error) { return r.Read(b) }

// Append encodes.
func Append(b []byte, v uint64) []byte { return protowire.AppendVarint(b, v) }
