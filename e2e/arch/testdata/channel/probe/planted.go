// Package probe uses channels.
package probe

// Done is a field of a channel's type.
type Done struct {
	c <-chan struct{} // want channel
}

// X uses it.
func X(d Done, out chan int) { // want channel
	out <- 1 // want channel
	<-d.c    // want channel
	select { // want channel
	default:
	}
}
