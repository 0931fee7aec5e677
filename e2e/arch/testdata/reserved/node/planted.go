// Package node reaches for a client that another package is to be used for.
package node

import "github.com/nats-io/nats.go" // want reserved

// Closed is its kind of error.
var Closed = nats.ErrConnectionClosed
