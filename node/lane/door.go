package lane

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"treecast/node/api/bearer"
	"treecast/wire/beef"
)

// Door is one raw port of an Ingress (PROTOCOL §7 Ingress doors). Raw doors answer
// nothing: over TCP a publisher sends, closes its half, and sees the door close
// when all it sent is settled; over UDP it sends and learns nothing.
type Door struct {
	// Addr is host:port, host alone, or empty for every interface, IPv6 and IPv4;
	// without a port it is DefaultTCPPort, or DefaultRecordPort for RecordsOnly.
	Addr string
	// UDP makes it a port for datagrams, each of which holds one record or one
	// object frame and nothing else. Nobody's DeliverCount is above 1 there, as a
	// source address proves nothing.
	UDP bool
	// RecordsOnly makes it a dedicated record port: nothing is detected, whatever
	// is no submission record is malformed. It is a TCP door.
	RecordsOnly bool
	// DeliverCap is how many of a record's leading names a publisher from an
	// address in Allow, or with a client certificate that TLS has verified, gets
	// made deliverable, 1..beef.MaxTopics; 0 = 1. Everybody else gets 1.
	DeliverCap int
	// Allow are the addresses that DeliverCap is for.
	Allow []netip.Prefix
	// TLS, if set, wraps the connections of a TCP door; its ClientAuth says
	// whether publishers have to show a certificate.
	TLS *tls.Config
}

// HTTPDoor is the door behind POST /submit (PROTOCOL §7 HTTP).
type HTTPDoor struct {
	// Token is what a submission has to carry; nil takes everybody's, which the
	// server in front may restrict.
	Token *bearer.Token
	// DeliverCap is how many of a record's leading names are made deliverable,
	// 1..beef.MaxTopics; 0 = 1. Above 1 it wants a Token.
	DeliverCap int
}

// address checks the door and returns the address to listen on.
func (d *Door) address() (string, error) {
	if err := checkCap("Door", d.DeliverCap); err != nil {
		return "", err
	}
	for _, p := range d.Allow {
		if !p.IsValid() {
			return "", fmt.Errorf("lane: ingress config Door.Allow: %v is no prefix", p)
		}
	}
	if d.UDP && (d.RecordsOnly || d.TLS != nil || d.DeliverCap > 1) {
		return "", errors.New("lane: ingress config Door.UDP: goes with none of RecordsOnly, TLS and DeliverCap")
	}
	port := DefaultTCPPort
	if d.RecordsOnly {
		port = DefaultRecordPort
	}
	return withPort(d.Addr, port), nil
}

// check judges the HTTP door.
func (d *HTTPDoor) check() error {
	if err := checkCap("HTTP", d.DeliverCap); err != nil {
		return err
	}
	if d.DeliverCap > 1 && d.Token == nil {
		return fmt.Errorf("lane: ingress config HTTP.DeliverCap: %d without a token", d.DeliverCap)
	}
	return nil
}

func checkCap(field string, n int) error {
	if n < 0 || n > beef.MaxTopics {
		return fmt.Errorf("lane: ingress config %s.DeliverCap: %d, want 1..%d", field, n, beef.MaxTopics)
	}
	return nil
}

// deliverable returns the DeliverCount that a publisher gets (PROTOCOL §7 Ingress
// doors): the cap if it proved who it is by its address or its certificate. What it
// wrote itself never counts.
func (d *Door) deliverable(from netip.Addr, certified bool) int {
	from = from.Unmap().WithZone("")
	if certified || slices.ContainsFunc(d.Allow, func(p netip.Prefix) bool { return p.Contains(from) }) {
		return max(1, d.DeliverCap)
	}
	return 1
}

// name is the door's in logs.
func (d *Door) name() string {
	switch {
	case d.UDP:
		return "udp"
	case d.RecordsOnly:
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
