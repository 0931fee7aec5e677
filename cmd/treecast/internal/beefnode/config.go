package beefnode

import (
	"log/slog"
	"net/netip"
	"slices"

	"github.com/multiformats/go-multiaddr"

	"treecast/node"
	"treecast/node/api/bearer"
	"treecast/node/lane"
	"treecast/node/sink"
	"treecast/wire"
	"treecast/wire/beef"
)

// Config is what one process runs.
type Config struct {
	// Node is the node itself; its Log is Log.
	Node node.Config
	// Broker makes this node the root of the BEEF cohorts, signing with the
	// publisher key of the data directory; it then opens them if it has an ingress or
	// an Admin.
	Broker bool
	// Join are the cohorts to join. The entries of Topic are those of every BEEF
	// cohort, however many groups the plane has.
	Join []Join
	// ShardBits is how many leading bits of a TopicID choose the group, and so the
	// cohort, that carries it: 0..15, the same at every node of the plane.
	ShardBits int
	// Groups are the groups that this node is in whoever its consumers are. None: all
	// of them for a broker or an ingress, else those of the sink's and the consumers'
	// topics alone.
	Groups []uint32
	// Admin and Publishers pin the cohorts joined; of a broker's own cohorts they
	// are the admin, zero for the publisher key, and the list.
	Admin      *wire.Owner
	Publishers []wire.Owner
	// Doors are the ingress's raw ports. With an API there is POST /submit beside
	// them, for which HTTPToken, if set, is asked instead of the API's; a HTTPToken
	// alone makes an ingress without a raw port. An ingress of a node that is no
	// broker publishes through its parents.
	Doors     []lane.Door
	HTTPToken *bearer.Token
	// DeliverCap is that of POST /submit with HTTPToken.
	DeliverCap int
	// IngressLimits bound what publishers can make the node do.
	IngressLimits lane.IngressLimits
	// Sender is the IPv6 address of the ingress's flow; the zero Addr is derived.
	Sender netip.Addr
	// ObjectMax bounds an object in bytes, at both doors; 0 = 16 MiB.
	ObjectMax int
	// EgressDial and EgressListen are the egress's raw lanes; with an API there is
	// GET /deliver beside them, or alone.
	EgressDial   []lane.DialConfig
	EgressListen string
	// Sink, if set, is where objects are stored; it needs Node.Retain, out of which it
	// reads. SinkCreds and SinkCA are as in sink.Config.
	Sink              *sink.Target
	SinkCreds, SinkCA string
	// EgressLimits bound what consumers can make the node hold.
	EgressLimits lane.EgressLimits
	// API is the address of the HTTP API, host:port; empty = none. Off loopback
	// it wants an APITokenFile.
	API, APITokenFile string
	// Log takes all logs; nil discards them.
	Log *slog.Logger
}

// Join names a cohort and where to find it.
type Join struct {
	Topic   wire.Topic
	Entries []multiaddr.Multiaddr // each with /p2p
}

// Topic is the topic of the BEEF plane's first cohort, that of group 0x1000, and its
// only one without sharding.
func Topic() wire.Topic { return beef.CohortTopic(beef.BaseGroup) }

// Opens says whether this node opens the BEEF cohorts.
func (cfg *Config) Opens() bool {
	return cfg.Broker && (cfg.Ingress() || cfg.Admin != nil)
}

// Joins says whether it joins BEEF cohorts.
func (cfg *Config) Joins() bool {
	return slices.ContainsFunc(cfg.Join, func(j Join) bool { return j.Topic == Topic() })
}

// Ingress says whether objects are taken.
func (cfg *Config) Ingress() bool { return len(cfg.Doors) > 0 || cfg.HTTPToken != nil }

// egress says whether objects are to be delivered.
func (cfg *Config) egress() bool {
	raw := len(cfg.EgressDial) > 0 || cfg.EgressListen != ""
	return raw || cfg.API != "" && (cfg.Opens() || cfg.Joins())
}

// fixedGroups are the groups that the node is in from start to end, in order.
func (cfg *Config) fixedGroups() []uint32 {
	if cfg.ShardBits == 0 {
		return []uint32{beef.BaseGroup}
	}
	groups := slices.Clone(cfg.Groups)
	if len(groups) == 0 && (cfg.Opens() || cfg.Ingress()) {
		for i := range uint32(1) << cfg.ShardBits {
			groups = append(groups, beef.BaseGroup+i)
		}
	}
	if cfg.Sink != nil && len(cfg.Groups) == 0 {
		for _, t := range cfg.Sink.Election.Topics {
			if group, err := beef.GroupIndex(t, cfg.ShardBits); err == nil { // else follow.New says so
				groups = append(groups, group)
			}
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// withRoom gives a sharded node the room that its cohorts take: one each, and a
// stream each to one and the same peer.
func (cfg Config) withRoom() Config {
	if cfg.ShardBits == 0 {
		return cfg
	}
	const spare = 64 // for what is no cohort of the plane, and for streams that cross
	l := &cfg.Node.Limits
	if most := len(cfg.fixedGroups()) + spare; l.Cohorts == 0 && most > 4096 {
		l.Cohorts = most
	}
	if l.StreamsPerPeer == 0 {
		l.StreamsPerPeer = 2<<cfg.ShardBits + spare
	}
	return cfg
}
