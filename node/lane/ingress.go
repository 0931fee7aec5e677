package lane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"treecast/wire/beef"
)

// Ingress takes objects from publishers and puts them into the cohort (PROTOCOL
// §7 Ingress doors). It is safe for concurrent use.
type Ingress struct {
	cfg     IngressConfig
	outlets map[uint32]*outlet // by group; never changes
	sockets []socket           // in the order of cfg.Doors
	http    *sources           // of the HTTP door

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	gate   sync.Mutex // around wg.Add from outside and the end of ctx

	conns   *semaphore.Weighted
	large   *semaphore.Weighted // objects over largeObject being received
	backlog *semaphore.Weighted // bytes of chunks not settled
	claims  *claims
	rate    nodeRate
	chunks  chunkPool
	counted ingressCounts
}

// NewIngress opens the doors and serves them until Close. The error names the
// configuration's first fault, or the address that cannot be listened on.
func NewIngress(cfg IngressConfig) (*Ingress, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	scan := beef.ScannerConfig{MaxObject: cfg.MaxObject}
	if _, err := beef.NewScanner(scan); err != nil {
		return nil, fmt.Errorf("lane: ingress config MaxObject: %w", err)
	}
	if _, err := beef.ChunkCount(cfg.MaxObject + beef.MaxEnvelope); err != nil {
		return nil, fmt.Errorf("lane: ingress config MaxObject: %w", err)
	}
	sender := beef.SenderOf(cfg.Overlay)
	if cfg.Sender.IsValid() {
		sender = cfg.Sender.As16()
	}
	in := &Ingress{
		cfg:     cfg,
		outlets: make(map[uint32]*outlet, len(cfg.Publishers)),
		http:    newSources(&cfg.Limits),
		conns:   semaphore.NewWeighted(int64(cfg.Limits.Conns)),
		large:   semaphore.NewWeighted(int64(cfg.Limits.LargeObjects)),
		backlog: semaphore.NewWeighted(cfg.Limits.Backlog),
		claims:  newClaims(cfg.Limits.Window, cfg.Limits.WindowAge),
		rate:    nodeRate{objects: newBucket(cfg.Limits.NodeObjects)},
	}
	for group := range cfg.Publishers {
		in.outlets[group] = in.newOutlet(group, sender)
	}
	in.ctx, in.cancel = context.WithCancel(context.Background())
	if err := in.listen(); err != nil {
		in.cancel()
		return nil, err
	}
	for i := range in.sockets {
		door := &in.cfg.Doors[i]
		if l := in.sockets[i].stream; l != nil {
			in.wg.Go(func() { in.accept(l, door) }) // ends when Close closes l
		} else {
			in.wg.Go(func() { in.readDatagrams(in.sockets[i].packets, door) }) // likewise
		}
	}
	return in, nil
}

// socket is what one door listens on: stream, or packets if it is a UDP door.
type socket struct {
	stream  net.Listener
	packets *net.UDPConn
}

func (s *socket) addr() net.Addr {
	if s.stream != nil {
		return s.stream.Addr()
	}
	return s.packets.LocalAddr()
}

func (s *socket) close() {
	if s.stream != nil {
		s.stream.Close() // the error is that it is closed
	} else {
		s.packets.Close()
	}
}

// listen opens every door or none.
func (in *Ingress) listen() error {
	for i := range in.cfg.Doors {
		s, err := in.cfg.Doors[i].listen()
		if err != nil {
			in.closeSockets()
			return err
		}
		in.sockets = append(in.sockets, s)
	}
	return nil
}

func (d *Door) listen() (s socket, err error) {
	addr, err := d.address()
	if err != nil {
		return s, err
	}
	if d.UDP {
		var local *net.UDPAddr
		if local, err = net.ResolveUDPAddr("udp", addr); err == nil {
			s.packets, err = net.ListenUDP("udp", local)
		}
	} else {
		s.stream, err = net.Listen("tcp", addr)
	}
	if err != nil {
		return s, fmt.Errorf("lane: ingress door: %w", err)
	}
	return s, nil
}

func (in *Ingress) closeSockets() {
	for i := range in.sockets {
		in.sockets[i].close()
	}
}

// Addrs returns the addresses that the doors listen on, in the order of
// IngressConfig.Doors.
func (in *Ingress) Addrs() []net.Addr {
	addrs := make([]net.Addr, len(in.sockets))
	for i := range in.sockets {
		addrs[i] = in.sockets[i].addr()
	}
	return addrs
}

// Close closes the doors and every connection and waits until nothing of the
// ingress runs. What was handed to the publisher stays with it; what was not is
// lost, as is everything that a publisher had on its way. Close waits for the
// publisher, so one that may hold back is closed first. It may be called twice.
func (in *Ingress) Close() error {
	in.gate.Lock()
	in.cancel()
	in.gate.Unlock()
	in.closeSockets()
	in.wg.Wait()
	return nil
}

// enter counts a goroutine of somebody else's into those that Close waits for;
// false: the ingress is closed.
func (in *Ingress) enter() bool {
	in.gate.Lock()
	defer in.gate.Unlock()
	if in.ctx.Err() != nil {
		return false
	}
	in.wg.Add(1)
	return true
}

// accept serves one door.
func (in *Ingress) accept(l net.Listener, door *Door) {
	from := newSources(&in.cfg.Limits)
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: others may become free
			in.cfg.Log.Warn("accept failed", "door", door.name(), "err", err)
			sleep(in.ctx, acceptPause)
			continue
		}
		in.counted.accepted.Add(1)
		if !in.conns.TryAcquire(1) {
			in.refuse(nc, ReasonConns)
			continue
		}
		origin := sourceOf(remoteAddr(nc))
		src, ok := from.enter(time.Now(), origin)
		if !ok {
			in.conns.Release(1)
			in.refuse(nc, ReasonSourceConns)
			continue
		}
		in.counted.open.Add(1)
		if door.TLS != nil {
			nc = tls.Server(nc, door.TLS)
		}
		in.wg.Go(func() { // ends when the connection does; in.ctx closes it
			in.serve(nc, door, src)
			from.leave(time.Now(), origin)
			in.conns.Release(1)
			in.counted.open.Add(-1)
		})
	}
}

func (in *Ingress) refuse(nc net.Conn, reason string) {
	in.counted.refused.add(reason)
	nc.Close() // nothing was written: there is nothing to lose
	in.cfg.Log.Debug("connection refused", "remote", nc.RemoteAddr().String(), "reason", reason)
}

// acceptPause is how long a door rests after a failed accept.
const acceptPause = 100 * time.Millisecond

// sleep waits for d; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// nodeRate is the rate that all doors share.
type nodeRate struct {
	mu      sync.Mutex
	objects bucket
}

func (r *nodeRate) object(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objects.take(now, 1)
}

// over returns for how long the rate is overdrawn; 0: it is not.
func (r *nodeRate) over(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objects.wait(now)
}

// ingressCounts are the ingress's counters.
type ingressCounts struct {
	open                        atomic.Int64
	accepted                    atomic.Uint64
	datagrams, requests         atomic.Uint64
	objects, bytes              atomic.Uint64
	chunks, published           atomic.Uint64
	refused, closed, dropped    counts
	rejected, failed, throttled counts
}
