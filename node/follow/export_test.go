package follow

import "fmt"

// Dump shows where all feeds are.
func (f *Follower) Dump() (s string) {
	for _, fd := range f.order {
		s += fmt.Sprintf("owner %x cursor %+v read %d limit %d again %v busy %v\n", fd.owner[0], fd.cursor, fd.read, fd.limit, fd.again, fd.busy)
	}
	return s + fmt.Sprintf("partial %v pending %v ready %d out %d", f.partial, f.pending, len(f.ready), f.out)
}
