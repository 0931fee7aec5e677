package lane

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"treecast/wire/beef"
)

const (
	// maxDatagram is one byte more than UDP can carry, so that a read is never cut.
	maxDatagram = 64 << 10
	// datagramBuffer is what the kernel is asked to keep while the door is busy; it
	// gives what it is configured to.
	datagramBuffer = 4 << 20
)

// readDatagrams serves a UDP door until it is closed. The door never waits: what it
// cannot take at once it drops and counts (PROTOCOL §7 Ingress doors).
func (in *Ingress) readDatagrams(pc *net.UDPConn, door *Door) {
	if err := pc.SetReadBuffer(datagramBuffer); err != nil {
		in.cfg.Log.Debug("kernel buffer not set", "door", door.name(), "err", err)
	}
	from := newSources(&in.cfg.Limits)
	parser, err := beef.NewParser(in.cfg.MaxObject)
	if err != nil {
		panic(err) // NewIngress has checked MaxObject
	}
	buf := make([]byte, maxDatagram)
	for {
		n, sender, err := pc.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as an answer to somebody who has gone
			in.cfg.Log.Debug("read failed", "door", door.name(), "err", err)
			sleep(in.ctx, acceptPause)
			continue
		}
		in.counted.datagrams.Add(1)
		if reason := in.datagram(parser, buf[:n], door, from, sender); reason != "" {
			in.counted.dropped.add(reason)
			in.cfg.Log.Debug("datagram dropped", "door", door.name(), "remote", sender.String(), "reason", reason)
		}
	}
}

// datagram takes one datagram. It returns why it was dropped before its object was
// judged; an object that is rejected is counted as such.
func (in *Ingress) datagram(parser *beef.Parser, b []byte, door *Door, from *sources, sender netip.AddrPort) (reason string) {
	now := time.Now()
	src := from.at(sourceOf(sender.Addr()))
	if reason, _ := src.over(now); reason != "" {
		return reason
	}
	src.object(now)
	src.read(now, len(b))
	if in.rate.over(now) > 0 {
		return ReasonNode
	}
	sub, err := parser.Parse(b)
	if fault := (*beef.FaultError)(nil); errors.As(err, &fault) && !errors.Is(err, beef.ErrRejected) {
		return fault.Reason
	} else if err != nil {
		in.rate.object(now)
		in.reject(fault.Reason, door.name(), sender.String(), "offset", fault.Offset)
		return ""
	}
	in.rate.object(now)
	o, reason := in.claim(&sub, 1, datagramOrigin(sender))
	if reason != "" {
		in.reject(reason, door.name(), sender.String(), "topic", o.topicID.String())
		return ""
	}
	if !in.backlog.TryAcquire(o.weight) {
		in.abandon(o)
		return ReasonBacklog
	}
	in.hand(o, &sub.Frame)
	return ""
}

// datagramOrigin is the sender of a datagram, who is told nothing.
type datagramOrigin netip.AddrPort

func (d datagramOrigin) remote() string { return netip.AddrPort(d).String() }

func (datagramOrigin) numbered(uint64) {}

func (datagramOrigin) settled(error) {}
