// Package wire reads the clock.
package wire

import "time"

// Deadline is an hour from now.
func Deadline() time.Time { return time.Now().Add(time.Hour) } // want clock
