// Package tree reads the clock.
package tree

import (
	"time"
	. "time"
	clock "time"
)

// X does so in each way that there is.
func X() Duration {
	start := time.Now()                    // want clock
	clock.Sleep(time.Since(start))         // want clock clock
	read := Now                            // want clock
	time.AfterFunc(1, func() {}).Stop()    // want clock
	NewTimer(clock.Until(read())).Reset(1) // want clock clock
	time.NewTicker(1).Stop()               // want clock
	return read().Sub(start) + time.Duration(1)
}
