package api

import (
	"time"

	"treecast/node"
	"treecast/tree"
	"treecast/wire"
)

// Tree is what GET /tree answers: a node and its own view of each cohort's tree.
// Overlays, topics and addresses of owners are lower case hex without 0x.
type Tree struct {
	PeerID     string            `json:"peer_id"`
	Overlay    string            `json:"overlay"`
	EthAddress string            `json:"eth_address"`
	Addrs      []string          `json:"addrs"` // multiaddrs with /p2p
	Cohorts    []Cohort          `json:"cohorts"`
	Counters   map[string]uint64 `json:"counters"`
	BytesIn    uint64            `json:"bytes_in"`
	BytesOut   uint64            `json:"bytes_out"`
}

// Cohort is the node's part in one cohort.
type Cohort struct {
	Topic        string            `json:"topic"`
	Group        string            `json:"group,omitempty"` // IPv6 address of the BEEF plane's group that it carries
	Broker       bool              `json:"broker"`
	Pinned       bool              `json:"pinned"`
	Band         uint32            `json:"band"`     // 0 = not placed
	Attached     bool              `json:"attached"` // the broker, or has a parent
	Settled      bool              `json:"settled"`  // has the parents it wants
	Capacity     int               `json:"capacity"`
	Hold         bool              `json:"hold"` // publications are held back
	PendingJoins int               `json:"pending_joins"`
	Spec         *Spec             `json:"spec,omitempty"` // absent until known
	Parents      []Parent          `json:"parents"`
	Children     []Child           `json:"children"`
	Entries      []string          `json:"entries"`
	Heads        []Head            `json:"heads"`
	Counters     map[string]uint64 `json:"counters"`
}

// Spec is a cohort's spec.
type Spec struct {
	Binding    string   `json:"binding"`
	Regime     string   `json:"publishers"`
	Admin      string   `json:"admin,omitempty"`
	Publishers []string `json:"publisher_list,omitempty"`
	History    bool     `json:"history"`
	Closed     bool     `json:"closed"`
}

// Head is the highest known feed index of an owner.
type Head struct {
	Owner string `json:"owner"`
	Index uint64 `json:"index"`
}

// Link is what parents and children have in common.
type Link struct {
	Overlay  string    `json:"overlay"`
	PeerID   string    `json:"peer_id"`
	Addr     string    `json:"addr"` // remote multiaddr of the connection
	Band     uint32    `json:"band"` // 0 = foreign or not placed
	Foreign  bool      `json:"foreign"`
	Since    time.Time `json:"since"`
	RTT      float64   `json:"rtt_ms"` // 0 = not measured
	BytesIn  uint64    `json:"bytes_in"`
	BytesOut uint64    `json:"bytes_out"`
}

// Parent is one parent.
type Parent struct {
	Link
	Broker bool   `json:"broker"`
	First  uint64 `json:"first"`  // chunks that came first from here
	Second uint64 `json:"second"` // copies that came second
}

// Child is one child.
type Child struct {
	Link
	Relays      bool    `json:"relays"`
	Childless   bool    `json:"childless"`
	QueueFrames int     `json:"queue_frames"`
	QueueBytes  int64   `json:"queue_bytes"`
	QueueFill   float64 `json:"queue_fill"` // share of the bound, 0..1
}

// TreeOf is the node's view now.
func TreeOf(n *node.Node) Tree {
	st := n.Stats()
	t := Tree{
		PeerID: n.ID().String(), Overlay: n.Overlay().String(), EthAddress: wire.Owner(n.EthAddress()).String(),
		Addrs: []string{}, Cohorts: []Cohort{},
		Counters: st.Counters, BytesIn: st.BytesIn, BytesOut: st.BytesOut,
	}
	for _, a := range n.Addrs() {
		t.Addrs = append(t.Addrs, a.String())
	}
	for _, c := range n.Cohorts() {
		t.Cohorts = append(t.Cohorts, cohortOf(c))
	}
	return t
}

func cohortOf(c *node.Cohort) Cohort {
	v := c.View()
	streams := make(map[tree.StreamID]node.StreamStats)
	for _, s := range c.Stats().Streams {
		streams[s.Stream] = s
	}
	out := Cohort{
		Topic: c.Topic().String(), Group: groupOf(c.Topic(), v.Spec), Broker: v.Broker, Pinned: v.Pinned, Band: v.Band, Attached: v.Attached,
		Settled: v.Settled, Capacity: v.Capacity, Hold: v.Hold, PendingJoins: v.PendingJoins, Spec: specOf(v.Spec),
		Parents: []Parent{}, Children: []Child{}, Entries: []string{}, Heads: []Head{},
		Counters: make(map[string]uint64),
	}
	for _, p := range v.Parents {
		out.Parents = append(out.Parents, Parent{
			Link:   linkOf(p.Peer, p.Band, p.Foreign, p.Since, p.RTT, streams[p.Stream]),
			Broker: p.Broker, First: p.First, Second: p.Second,
		})
	}
	for _, k := range v.Children {
		s := streams[k.Stream]
		out.Children = append(out.Children, Child{
			Link:   linkOf(k.Peer, k.Band, k.Foreign, k.Since, k.RTT, s),
			Relays: k.Relays, Childless: k.Childless,
			QueueFrames: s.QueueFrames, QueueBytes: s.QueueBytes, QueueFill: s.QueueFill,
		})
	}
	for _, e := range v.Entries {
		out.Entries = append(out.Entries, e.String())
	}
	for _, h := range v.Heads {
		out.Heads = append(out.Heads, Head{Owner: h.Owner.String(), Index: h.Index})
	}
	for k, n := range c.Counters() {
		out.Counters[tree.Counter(k).String()] = n
	}
	return out
}

func linkOf(peer wire.Overlay, band uint32, foreign bool, since time.Time, rtt time.Duration, s node.StreamStats) Link {
	return Link{
		Overlay: peer.String(), PeerID: s.PeerID.String(), Addr: s.Addr, Band: band, Foreign: foreign, Since: since,
		RTT: float64(rtt) / float64(time.Millisecond), BytesIn: s.BytesIn, BytesOut: s.BytesOut,
	}
}

func specOf(s *wire.Spec) *Spec {
	if s == nil {
		return nil
	}
	out := &Spec{Binding: s.Binding.String(), Regime: s.Regime.String(), History: s.History, Closed: s.Closed}
	if len(s.Admin) == len(wire.Owner{}) {
		out.Admin = wire.Owner(s.Admin).String()
	}
	for _, p := range s.Publishers {
		out.Publishers = append(out.Publishers, wire.Owner(p).String())
	}
	return out
}

// Ready says whether every cohort has the parents it wants, and else which has
// not. A node without a cohort is ready.
func Ready(n *node.Node) (ok bool, reason string) {
	for _, c := range n.Cohorts() {
		v := c.View()
		topic := c.Topic().String()[:8]
		switch {
		case !v.Attached:
			return false, "cohort " + topic + ": no parent"
		case !v.Settled:
			return false, "cohort " + topic + ": looking for another parent"
		}
	}
	return true, ""
}
