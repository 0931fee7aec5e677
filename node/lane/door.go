package lane

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"treecast/wire/beef"
)

// Door is one TCP port of an Ingress (PROTOCOL §7 Ingress doors). Raw doors answer
// nothing: a publisher sends, closes its half, and sees the door close when all
// it sent is settled.
type Door struct {
	// Addr is host:port, host alone, or empty for every interface; without a port
	// it is DefaultTCPPort, or DefaultRecordPort for RecordsOnly.
	Addr string
	// RecordsOnly makes it a dedicated record port: nothing is detected, whatever
	// is no submission record is malformed.
	RecordsOnly bool
	// DeliverCap is how many of a record's leading names a publisher from an
	// address in Allow gets made deliverable, 1..beef.MaxTopics; 0 = 1. Everybody
	// else gets 1.
	DeliverCap int
	// Allow are the addresses that DeliverCap is for.
	Allow []netip.Prefix
}

// address checks the door and returns the address to listen on.
func (d *Door) address() (string, error) {
	if d.DeliverCap < 0 || d.DeliverCap > beef.MaxTopics {
		return "", fmt.Errorf("lane: ingress config Door.DeliverCap: %d, want 1..%d", d.DeliverCap, beef.MaxTopics)
	}
	for _, p := range d.Allow {
		if !p.IsValid() {
			return "", fmt.Errorf("lane: ingress config Door.Allow: %v is no prefix", p)
		}
	}
	port := DefaultTCPPort
	if d.RecordsOnly {
		port = DefaultRecordPort
	}
	return withPort(d.Addr, port), nil
}

// deliverable returns the DeliverCount that a publisher at from gets (PROTOCOL §7
// Ingress doors). What it wrote itself never counts.
func (d *Door) deliverable(from netip.Addr) int {
	from = from.Unmap().WithZone("")
	if slices.ContainsFunc(d.Allow, func(p netip.Prefix) bool { return p.Contains(from) }) {
		return max(1, d.DeliverCap)
	}
	return 1
}

// name is the door's in logs.
func (d *Door) name() string {
	if d.RecordsOnly {
		return "record"
	}
	return "tcp"
}

// withPort adds port to an address without one.
func withPort(addr string, port int) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), strconv.Itoa(port))
}

// remoteAddr returns the address of the other end of a TCP connection.
func remoteAddr(c net.Conn) netip.Addr {
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr()
	}
	return netip.Addr{}
}
