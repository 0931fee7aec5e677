package beefnode

import (
	"log/slog"
	"net/netip"
	"slices"

	"github.com/multiformats/go-multiaddr"

	"treecast/node"
	"treecast/node/lane"
	"treecast/wire"
	"treecast/wire/beef"
)

// Config is what one process runs.
type Config struct {
	// Node is the node itself; its Log is Log.
	Node node.Config
	// Broker makes this node the root of the BEEF cohort, signing with the
	// publisher key of the data directory; it then opens the cohort if it has a
	// door or an Admin.
	Broker bool
	// Join are the cohorts to join.
	Join []Join
	// Admin and Publishers pin the cohorts joined; of a broker's own cohort they
	// are the admin, zero for the publisher key, and the list.
	Admin      *wire.Owner
	Publishers []wire.Owner
	// Doors are the ingress's; none = no ingress. Only a broker has any.
	Doors []lane.Door
	// IngressLimits bound what publishers can make the node do.
	IngressLimits lane.IngressLimits
	// Sender is the IPv6 address of the ingress's flow; the zero Addr is derived.
	Sender netip.Addr
	// ObjectMax bounds an object in bytes, at both doors; 0 = 16 MiB.
	ObjectMax int
	// EgressDial and EgressListen are the egress's lanes; none = no egress.
	EgressDial   []lane.DialConfig
	EgressListen string
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

// Topic is the topic of the BEEF plane's one cohort, that of group 0x1000.
func Topic() wire.Topic { return beef.CohortTopic(beef.BaseGroup) }

// Opens says whether this node opens the BEEF cohort.
func (cfg *Config) Opens() bool {
	return cfg.Broker && (len(cfg.Doors) > 0 || cfg.Admin != nil)
}

// Joins says whether it joins the BEEF cohort.
func (cfg *Config) Joins() bool {
	return slices.ContainsFunc(cfg.Join, func(j Join) bool { return j.Topic == Topic() })
}

// egress says whether objects are to be delivered.
func (cfg *Config) egress() bool { return len(cfg.EgressDial) > 0 || cfg.EgressListen != "" }
