package jetstream_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// natsServer is a NATS server in this process, on loopback and with its streams in
// a directory. Its address stays the same over restarts.
type natsServer struct {
	opts server.Options
	*server.Server
}

// startServer starts a server; change may set more than the defaults. The test's
// end stops it.
func startServer(t testing.TB, change func(*server.Options)) *natsServer {
	t.Helper()
	n := &natsServer{opts: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	}}
	if change != nil {
		change(&n.opts)
	}
	n.start(t)
	n.opts.Port = n.Addr().(*net.TCPAddr).Port
	t.Cleanup(n.stop)
	return n
}

func (n *natsServer) start(t testing.TB) {
	t.Helper()
	opts := n.opts // the server fills in what is not set
	s, err := server.NewServer(&opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	n.Server = s
}

func (n *natsServer) stop() {
	n.Shutdown()
	n.WaitForShutdown()
}

// restart stops the server and starts it again with the same streams.
func (n *natsServer) restart(t testing.TB, change func(*server.Options)) {
	t.Helper()
	n.stop()
	if change != nil {
		change(&n.opts)
	}
	n.start(t)
}

func (n *natsServer) addr() string { return n.Addr().String() }

// client connects to the server as whoever watches it.
func client(t testing.TB, n *natsServer, opts ...nats.Option) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect("nats://"+n.addr(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// cable is a TCP relay in front of the server that can be cut.
type cable struct {
	net.Listener
	to string

	mu    sync.Mutex
	conns map[net.Conn]bool
	deaf  bool // what the server says is swallowed
	dead  bool // who connects is turned away
	wg    sync.WaitGroup
}

func newCable(t testing.TB, to string) *cable {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &cable{Listener: ln, to: to, conns: make(map[net.Conn]bool)}
	w.wg.Go(w.accept) // ends with the listener
	t.Cleanup(func() {
		ln.Close()
		w.cut()
		w.wg.Wait()
	})
	return w
}

func (w *cable) accept() {
	for {
		in, err := w.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", w.to)
		if err != nil {
			in.Close()
			continue
		}
		w.mu.Lock()
		if w.dead {
			in.Close()
			out.Close()
			w.mu.Unlock()
			continue
		}
		w.conns[in], w.conns[out] = true, true
		w.mu.Unlock()
		w.wg.Go(func() { w.carry(out, in, false) }) // both end with either connection
		w.wg.Go(func() { w.carry(in, out, true) })
	}
}

func (w *cable) carry(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		w.mu.Lock()
		deaf := answers && w.deaf
		w.mu.Unlock()
		if deaf {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// cut ends all connections.
func (w *cable) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.Close()
	}
	clear(w.conns)
}

// set says whether answers are swallowed and who connects is turned away.
func (w *cable) set(deaf, dead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deaf, w.dead = deaf, dead
}
