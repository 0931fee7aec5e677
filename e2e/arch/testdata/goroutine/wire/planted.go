// Package wire starts a goroutine.
package wire

// X starts it.
func X(f func()) {
	go f() // want goroutine
}
