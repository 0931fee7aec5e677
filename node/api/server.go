package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"treecast/node"
	"treecast/node/api/bearer"
)

// Config is where a Server listens and for whom.
type Config struct {
	// Addr is host:port; without a host, loopback. Port 0 takes a free one.
	Addr string
	// TokenFile holds the bearer token that every request but /healthz must carry;
	// empty asks for none, which is refused on an address other than loopback.
	TokenFile string
	// Routes are handlers of other packages that the server offers too.
	Routes []Route
	// Gatherer is what /metrics shows; nil: no /metrics.
	Gatherer prometheus.Gatherer
	// Log takes the server's own errors; nil discards them.
	Log *slog.Logger
}

// Route is one path that another package handles.
type Route struct {
	// Pattern is as http.ServeMux has it, such as "POST /submit".
	Pattern string
	Handler http.Handler
	// OwnToken says that the handler asks for a token of its own, which then takes
	// the place of the server's. Without it the server's rules hold.
	OwnToken bool
}

// Server answers until Close.
type Server struct {
	node     *node.Node
	listener net.Listener
	http     *http.Server
	token    *bearer.Token // nil: none asked for
	loopback bool

	life context.Context // of those who follow; ended by Close
	end  context.CancelFunc
	wg   sync.WaitGroup
	once sync.Once
	err  error

	mu        sync.Mutex // covers followers, and that none comes in after end
	followers int
}

const (
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	closeTimeout  = 2 * time.Second
	maxHeaderSize = 16 << 10
)

// New listens and serves. The error names the address, or the token file, that
// is at fault.
func New(n *node.Node, cfg Config) (*Server, error) {
	host, port, err := net.SplitHostPort(cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("api: address %q: %w", cfg.Addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	s := &Server{node: n, loopback: isLoopback(host)}
	if cfg.TokenFile != "" {
		if s.token, err = bearer.Read(cfg.TokenFile); err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
	} else if !s.loopback {
		return nil, fmt.Errorf("api: address %q: not loopback, so it needs a token file", cfg.Addr)
	}
	if s.listener, err = net.Listen("tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, fmt.Errorf("api: address %q: %w", cfg.Addr, err)
	}
	s.life, s.end = context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.Handle("GET /readyz", s.guard(http.HandlerFunc(s.readyz)))
	mux.Handle("GET /tree", s.guard(http.HandlerFunc(s.tree)))
	mux.Handle("GET /follow", s.guard(http.HandlerFunc(s.follow)))
	if cfg.Gatherer != nil {
		mux.Handle("GET /metrics", s.guard(promhttp.HandlerFor(cfg.Gatherer, promhttp.HandlerOpts{})))
	}
	for _, r := range cfg.Routes {
		if r.OwnToken {
			mux.Handle(r.Pattern, r.Handler)
		} else {
			mux.Handle(r.Pattern, s.guard(r.Handler))
		}
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s.http = &http.Server{
		Handler: mux, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		MaxHeaderBytes: maxHeaderSize, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.wg.Go(func() { // ends with Close
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("api ended", "err", err)
		}
	})
	return s, nil
}

// Addr is the address it listens on.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends the server and its connections; requests under way have a moment to
// finish. Twice is fine.
func (s *Server) Close() error {
	s.once.Do(func() {
		s.mu.Lock()
		s.end() // under mu: who has come in before is waited for
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if s.err = s.http.Shutdown(ctx); s.err != nil {
			s.err = s.http.Close()
		}
		s.wg.Wait()
	})
	return s.err
}

// guard lets a request pass that carries the token. On loopback it also wants
// the Host header to name loopback, so that no web page elsewhere can read the
// API through its visitor's browser by a name that resolves to it.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.loopback && s.token == nil && !isLoopback(hostOf(r.Host)) {
			http.Error(w, "the Host header names another host", http.StatusForbidden)
			return
		}
		if s.token != nil && !s.token.In(r) {
			bearer.Challenge(w)
			http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "ok")
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if ok, reason := Ready(s.node); !ok {
		http.Error(w, reason, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func (s *Server) tree(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.Encode(TreeOf(s.node)) // an error is the client's going away
}
