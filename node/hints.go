package node

import (
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"treecast/wire"
)

// scope is how far an IP address is known.
type scope uint8

const (
	scopeGlobal scope = iota
	scopePrivate
	scopeLoopback
	scopeRefused // link-local, zoned, multicast, unspecified, or no IP address
)

// sharedRange is used between customers and carriers: as private as the others.
var sharedRange = netip.MustParsePrefix("100.64.0.0/10")

func scopeOfIP(ip netip.Addr) scope {
	ip = ip.Unmap()
	switch {
	case !ip.IsValid() || ip.Zone() != "" || ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast():
		return scopeRefused
	case ip.IsLoopback():
		return scopeLoopback
	case ip.IsPrivate() || sharedRange.Contains(ip):
		return scopePrivate
	}
	return scopeGlobal
}

// scopeOf is the scope of the IP address that a multiaddr begins with.
func scopeOf(a multiaddr.Multiaddr) scope {
	if a == nil {
		return scopeRefused
	}
	ip, err := manet.ToIP(a)
	if err != nil {
		return scopeRefused
	}
	addr, ok := netip.AddrFromSlice(ip)
	if !ok {
		return scopeRefused
	}
	return scopeOfIP(addr)
}

// maxHintAddrs is how many addresses of one candidate are tried.
const maxHintAddrs = 3

// hintRules judge the addresses that came with a candidate (PROTOCOL §6). They
// let nobody make this node knock at doors of its own network.
type hintRules struct {
	allowPrivate bool
	derive       func(peer.ID) (wire.Overlay, error)
}

// judge returns the peer that hints name and the addresses of it that may be
// tried. from is the scope of the connection that brought them. refused counts
// the hints not believed.
func (r *hintRules) judge(target wire.Overlay, hints [][]byte, from scope) (info peer.AddrInfo, refused int) {
	for _, hint := range hints {
		addr, id, ok := r.parse(target, hint, from)
		switch {
		case !ok, info.ID != "" && info.ID != id:
			refused++
		case len(info.Addrs) < maxHintAddrs:
			info.ID = id
			info.Addrs = append(info.Addrs, addr)
		}
	}
	return info, refused
}

func (r *hintRules) parse(target wire.Overlay, hint []byte, from scope) (multiaddr.Multiaddr, peer.ID, bool) {
	if len(hint) > wire.MaxUnderlayBytes {
		return nil, "", false
	}
	full, err := multiaddr.NewMultiaddrBytes(hint)
	if err != nil {
		return nil, "", false
	}
	addr, id := peer.SplitAddr(full)
	if addr == nil || id == "" || !r.dialable(addr, from) {
		return nil, "", false
	}
	if o, err := r.derive(id); err != nil || o != target {
		return nil, "", false
	}
	return addr, id, true
}

// dialable judges ip, scope and port. What may follow the IP address is a
// transport served here: tcp, or udp and quic-v1.
func (r *hintRules) dialable(addr multiaddr.Multiaddr, from scope) bool {
	if len(addr) < 2 {
		return false
	}
	if code := addr[0].Code(); code != multiaddr.P_IP4 && code != multiaddr.P_IP6 {
		return false
	}
	switch s := scopeOf(addr); s {
	case scopeGlobal:
	case scopePrivate, scopeLoopback:
		if !r.allowPrivate && (from == scopeRefused || from < s) {
			return false
		}
	default:
		return false
	}
	tcp := addr[1].Code() == multiaddr.P_TCP && len(addr) == 2
	quic := addr[1].Code() == multiaddr.P_UDP && len(addr) == 3 && addr[2].Code() == multiaddr.P_QUIC_V1
	if !tcp && !quic {
		return false
	}
	port, err := strconv.ParseUint(addr[1].Value(), 10, 16)
	return err == nil && (port >= 1024 || port == 443)
}

const (
	// hintRetry is how long an address that failed is not tried again.
	hintRetry = time.Minute
	// maxFailedHints bounds the addresses remembered as failed.
	maxFailedHints = 4096
)

// failedHints remembers which addresses could not be dialled lately.
type failedHints struct {
	mu    sync.Mutex
	addrs map[string]time.Time
	swept time.Time // when old ones were last taken out
}

// filter returns the addresses that did not fail within the last minute, in
// place.
func (f *failedHints) filter(addrs []multiaddr.Multiaddr, now time.Time) []multiaddr.Multiaddr {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := addrs[:0]
	for _, a := range addrs {
		if at, ok := f.addrs[string(a.Bytes())]; !ok || now.Sub(at) >= hintRetry {
			kept = append(kept, a)
		}
	}
	return kept
}

// add remembers failed addresses.
func (f *failedHints) add(addrs []multiaddr.Multiaddr, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.addrs == nil {
		f.addrs = make(map[string]time.Time)
	}
	if len(f.addrs)+len(addrs) > maxFailedHints && now.Sub(f.swept) >= time.Second {
		f.swept = now
		for a, at := range f.addrs {
			if now.Sub(at) >= hintRetry {
				delete(f.addrs, a)
			}
		}
	}
	if len(f.addrs)+len(addrs) > maxFailedHints {
		return // full of fresh ones, and nobody dials so much in a minute
	}
	for _, a := range addrs {
		f.addrs[string(a.Bytes())] = now
	}
}
