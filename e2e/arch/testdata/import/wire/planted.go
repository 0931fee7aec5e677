// Package wire imports what is the driver's.
package wire

import (
	"context" // want import
	"log"     // want import
	"net"     // want import
	"os"      // want import
)

// X is there to use the imports.
func X(context.Context, *log.Logger, net.Conn, *os.File) {}
