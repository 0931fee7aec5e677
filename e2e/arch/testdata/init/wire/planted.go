// Package wire runs something at its start.
package wire

// X is what it sets.
var X int

func init() { // want init
	X = 1
}
