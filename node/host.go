package node

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/x/rate"

	"treecast/wire/soc"
)

// The connection manager trims what is neither a parent's nor a child's when
// there are more connections than connHigh, down to connLow.
const (
	connLow   = 512
	connHigh  = 1024
	connGrace = 30 * time.Second
)

// connsPerIP bounds the connections from one IPv4 address or /56 of IPv6, which a
// whole site may share, and connsPerSecond how fast they come. Loopback is exempt.
const (
	connsPerIP     = 256
	connsPerSecond = 10
)

// newHost makes the node's own libp2p host: TCP with noise and yamux, and QUIC.
func newHost(cfg *Config, key *soc.Key, b *blocker) (host.Host, error) {
	if err := portsFree(cfg.Listen); err != nil {
		return nil, err
	}
	priv, err := crypto.UnmarshalSecp256k1PrivateKey(key.Bytes())
	if err != nil {
		return nil, fmt.Errorf("node: host: %w", err)
	}
	conns, err := connmgr.NewConnManager(connLow, connHigh, connmgr.WithGracePeriod(connGrace))
	if err != nil {
		return nil, fmt.Errorf("node: host: %w", err)
	}
	resources, err := newResources(cfg)
	if err != nil {
		conns.Close()
		return nil, err
	}
	opts := []libp2p.Option{
		libp2p.Identity(priv),
		libp2p.UserAgent("treecast"),
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Transport(quic.NewTransport),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.ConnectionManager(conns),
		libp2p.ConnectionGater(b),
		libp2p.ResourceManager(resources),
		libp2p.DisableRelay(),
		libp2p.Ping(true),
	}
	if len(cfg.Listen) > 0 {
		opts = append(opts, libp2p.ListenAddrStrings(cfg.Listen...))
	} else {
		opts = append(opts, libp2p.NoListenAddrs)
	}
	if cfg.Registerer != nil {
		opts = append(opts, libp2p.PrometheusRegisterer(cfg.Registerer))
	} else {
		opts = append(opts, libp2p.DisableMetrics())
	}
	h, err := libp2p.New(opts...)
	if err != nil {
		conns.Close()
		resources.Close()
		return nil, fmt.Errorf("node: host listening on %q: %w", cfg.Listen, err)
	}
	if err := listensOnAll(h, cfg.Listen); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// newResources bounds what libp2p holds for peers. Its own defaults are made for
// nodes with few streams a peer; here a peer may have one for each cohort, and
// the node's bounds on cohorts, streams and queues do the finer work.
func newResources(cfg *Config) (network.ResourceManager, error) {
	scaling := rcmgr.DefaultLimits
	libp2p.SetDefaultServiceLimits(&scaling)
	perPeer := rcmgr.LimitVal(4 * cfg.Limits.StreamsPerPeer)
	streams := rcmgr.ResourceLimits{
		Streams: 1 << 17, StreamsInbound: 1 << 17, StreamsOutbound: 1 << 17,
		Memory: rcmgr.Unlimited64,
	}
	toPeer := rcmgr.ResourceLimits{
		Streams: perPeer, StreamsInbound: perPeer, StreamsOutbound: perPeer,
		Memory: rcmgr.Unlimited64,
	}
	system := streams
	system.Conns, system.ConnsInbound, system.ConnsOutbound = 1<<14, 1<<14, 1<<14
	system.FD = 1 << 14
	system.Memory = rcmgr.LimitVal64(max(cfg.Memory, 1<<30))
	transient := system
	transient.Conns, transient.ConnsInbound, transient.ConnsOutbound, transient.FD = 1024, 1024, 1024, 1024
	peerLimits := toPeer
	peerLimits.Conns, peerLimits.ConnsInbound, peerLimits.ConnsOutbound, peerLimits.FD = 16, 16, 16, 16
	short := rcmgr.ResourceLimits{ // of ping and identify, one at a time and peer
		Streams: 1 << 14, StreamsInbound: 1 << 14, StreamsOutbound: 1 << 14,
		Memory: rcmgr.Unlimited64,
	}
	perIP := rate.Limit{RPS: connsPerSecond, Burst: connsPerIP}
	limits := rcmgr.PartialLimitConfig{
		System: system, Transient: transient, PeerDefault: peerLimits,
		Protocol:     map[protocol.ID]rcmgr.ResourceLimits{ProtocolID: streams, ping.ID: short, identify.ID: short, identify.IDPush: short},
		ProtocolPeer: map[protocol.ID]rcmgr.ResourceLimits{ProtocolID: toPeer},
		Service:      map[string]rcmgr.ResourceLimits{ping.ServiceName: short, identify.ServiceName: short},
	}
	m, err := rcmgr.NewResourceManager(
		rcmgr.NewFixedLimiter(limits.Build(scaling.AutoScale())),
		rcmgr.WithLimitPerSubnet(
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: connsPerIP}},
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 56, ConnCount: connsPerIP}, {PrefixLength: 48, ConnCount: 4 * connsPerIP}},
		),
		rcmgr.WithConnRateLimiters(&rate.Limiter{
			NetworkPrefixLimits: []rate.PrefixLimit{{Prefix: netip.MustParsePrefix("127.0.0.0/8")}, {Prefix: netip.MustParsePrefix("::1/128")}},
			SubnetRateLimiter: rate.SubnetLimiter{
				IPv4SubnetLimits: []rate.SubnetLimit{{PrefixLength: 32, Limit: perIP}},
				IPv6SubnetLimits: []rate.SubnetLimit{{PrefixLength: 56, Limit: perIP}},
				GracePeriod:      time.Minute,
			},
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("node: resource limits: %w", err)
	}
	return m, nil
}
