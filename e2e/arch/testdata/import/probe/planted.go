// Package probe imports locks and other sources of chance.
package probe

import (
	crypto "crypto/rand" // want import
	"math/rand"          // want import
	"sync"               // want import
	"sync/atomic"        // want import
)

// X is there to use the imports.
func X(*rand.Rand, *sync.Mutex, *atomic.Bool) any { return crypto.Reader }
