package main

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/node"
	"treecast/node/api/bearer"
	"treecast/node/lane"
	"treecast/wire"
	"treecast/wire/beef"
	"treecast/wire/soc"
)

// nodeParser turns flags into a configuration and collects every fault.
type nodeParser struct {
	*nodeFlags
	faults []string
}

func (p *nodeParser) fault(format string, args ...any) {
	p.faults = append(p.faults, "node: "+fmt.Sprintf(format, args...))
}

// parse checks the flags and returns what they mean. The error is a usageError
// with one line a fault.
func (f *nodeFlags) parse(capacitySet bool) (beefnode.Config, error) {
	p := &nodeParser{nodeFlags: f}
	cfg := beefnode.Config{
		Node: node.Config{
			DataDir: f.dataDir, Listen: f.listen, NetworkID: f.networkID, Parents: f.parents,
			AllowPrivate: f.allowPrivate,
		},
		Broker: f.broker, ObjectMax: f.objectMax, EgressListen: f.egressListen, API: f.api, APITokenFile: f.apiTokenFile,
	}
	p.identity()
	p.tree(&cfg, capacitySet)
	p.retain(&cfg)
	p.sink(&cfg)
	p.owners(&cfg)
	p.policy(&cfg)
	p.joins(&cfg)
	p.sharding(&cfg)
	p.ingress(&cfg)
	p.egress(&cfg)
	p.limits(&cfg)
	p.whole(&cfg)
	p.wholeSharding(&cfg)
	if len(p.faults) > 0 {
		return cfg, &usageError{faults: p.faults}
	}
	return cfg, nil
}

func (p *nodeParser) identity() {
	if p.dataDir == "" {
		p.fault("--data-dir is missing")
	}
	if p.networkID == 0 {
		p.fault("--network-id 0: want at least 1")
	}
	if len(p.listen) == 0 {
		p.fault("--listen is empty")
	}
	for _, a := range p.listen {
		if _, err := multiaddr.NewMultiaddr(a); err != nil {
			p.fault("--listen %q: %v", a, err)
		}
	}
	switch {
	case p.api != "":
		p.hostPort("api", p.api)
	case p.apiTokenFile != "":
		p.fault("--api-token-file without --api")
	}
}

func (p *nodeParser) hostPort(flag, addr string) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		p.fault("--%s %q: want HOST:PORT", flag, addr)
	}
}

func (p *nodeParser) tree(cfg *beefnode.Config, capacitySet bool) {
	switch {
	case !capacitySet: // the node's own default
	case p.capacity < 0 || p.capacity == 1 || p.capacity == 2:
		p.fault("--capacity %d: want 0 (never relay) or at least 3", p.capacity)
	case p.capacity == 0 && p.broker:
		p.fault("--capacity 0: a broker must relay")
	case p.capacity == 0:
		cfg.Node.Capacity = -1
	default:
		cfg.Node.Capacity = p.capacity
	}
	if p.parents != 1 && p.parents != 2 {
		p.fault("--parents %d: want 1 or 2", p.parents)
	}
}

func (p *nodeParser) owners(cfg *beefnode.Config) {
	if p.admin != "" {
		if owner, ok := p.owner("admin", p.admin); ok {
			cfg.Admin = &owner
		}
	}
	for _, s := range p.publishers {
		if owner, ok := p.owner("publishers", s); ok {
			cfg.Publishers = append(cfg.Publishers, owner)
		}
	}
}

// owner reads an Ethereum address, with or without 0x.
func (p *nodeParser) owner(flag, s string) (wire.Owner, bool) {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(b) != len(wire.Owner{}) {
		p.fault("--%s %q: want an address of 40 hexadecimal digits", flag, s)
		return wire.Owner{}, false
	}
	return wire.Owner(b), true
}

func (p *nodeParser) policy(cfg *beefnode.Config) {
	switch p.openPolicy {
	case "api":
		cfg.Node.OpenPolicy = node.OpenAPI
	case "list":
		cfg.Node.OpenPolicy = node.OpenList
	case "anyone":
		cfg.Node.OpenPolicy = node.OpenAnyone
	default:
		p.fault("--open-policy %q is none of api, list, anyone", p.openPolicy)
	}
	if (p.openPolicy == "list") != (len(p.openAllow) > 0) {
		p.fault("--open-policy list and --open-allow go together")
	}
	for _, s := range p.openAllow {
		id, err := peer.Decode(s)
		if err != nil {
			p.fault("--open-allow %q: no peer ID", s)
			continue
		}
		cfg.Node.OpenAllow = append(cfg.Node.OpenAllow, id)
	}
}

// joins reads --join. Several entries of one topic are one cohort.
func (p *nodeParser) joins(cfg *beefnode.Config) {
	at := make(map[wire.Topic]int)
	for _, s := range p.join {
		name, addr, found := strings.Cut(s, "@/")
		if !found || name == "" {
			p.fault("--join %q: want TOPIC@MADDR; this version finds no entry point by itself", s)
			continue
		}
		entry, err := multiaddr.NewMultiaddr("/" + addr)
		if err == nil {
			_, err = peer.AddrInfoFromP2pAddr(entry)
		}
		if err != nil {
			p.fault("--join %q: want a multiaddr that ends in /p2p/PEER: %v", s, err)
			continue
		}
		topic := topicOf(name)
		i, ok := at[topic]
		if !ok {
			i = len(cfg.Join)
			at[topic] = i
			cfg.Join = append(cfg.Join, beefnode.Join{Topic: topic})
		}
		cfg.Join[i].Entries = append(cfg.Join[i].Entries, entry)
	}
}

// topicOf reads a topic: 64 hexadecimal digits, beef, or a name, which is hashed.
func topicOf(s string) wire.Topic {
	if b, err := hex.DecodeString(s); err == nil && len(b) == len(wire.Topic{}) {
		return wire.Topic(b)
	}
	if s == "beef" {
		return beefnode.Topic()
	}
	return wire.Topic(soc.Keccak256([]byte(s)))
}

func (p *nodeParser) ingress(cfg *beefnode.Config) {
	if p.ingressTCP != "" {
		p.hostPort("ingress-tcp", p.ingressTCP)
		cfg.Doors = append(cfg.Doors, lane.Door{Addr: p.ingressTCP})
	}
	if p.ingressRecord != "" {
		p.hostPort("ingress-record", p.ingressRecord)
		cfg.Doors = append(cfg.Doors, lane.Door{Addr: p.ingressRecord, RecordsOnly: true})
	}
	p.doorPolicy(cfg)
	if p.ingressUDP != "" {
		p.hostPort("ingress-udp", p.ingressUDP)
		cfg.Doors = append(cfg.Doors, lane.Door{Addr: p.ingressUDP, UDP: true})
	}
	if p.objectMax != 0 && (p.objectMax < 4 || p.objectMax > 1<<30) {
		p.fault("--object-max %d: want 4 to %d", p.objectMax, 1<<30)
	}
	if p.sender == "" {
		return
	}
	sender, err := netip.ParseAddr(p.sender)
	if err != nil || !sender.Is6() || sender.Zone() != "" {
		p.fault("--sender %q: want an IPv6 address", p.sender)
	}
	cfg.Sender = sender
	if !cfg.Ingress() {
		p.fault("--sender: there is no ingress to name")
	}
}

// doorPolicy reads who gets more than one name made deliverable: POST /submit with
// the token, and the TCP doors, which are all that cfg has so far.
func (p *nodeParser) doorPolicy(cfg *beefnode.Config) {
	if p.ingressToken != "" {
		token, err := bearer.Read(p.ingressToken)
		if err != nil {
			p.fault("--ingress-token-file: %v", err)
		}
		cfg.HTTPToken = token
		if p.api == "" {
			p.fault("--ingress-token-file without --api, which has POST /submit")
		}
	}
	var allow []netip.Prefix
	for _, s := range p.ingressAllow {
		prefix, err := netip.ParsePrefix(s)
		if addr, addrErr := netip.ParseAddr(s); addrErr == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			p.fault("--ingress-allow %q: want an address or a prefix", s)
		}
		allow = append(allow, prefix)
	}
	secure, err := p.ingressTLS.config()
	if err != nil {
		p.fault("%v", err)
	}
	if (len(allow) > 0 || secure != nil) && len(cfg.Doors) == 0 {
		p.fault("--ingress-allow and --ingress-tls-cert without a TCP door")
	}
	proves := p.ingressToken != "" || len(allow) > 0 || p.ingressTLS.clientCA != ""
	switch {
	case p.deliverCap < 1 || p.deliverCap > beef.MaxTopics:
		p.fault("--deliver-cap %d: want 1 to %d", p.deliverCap, beef.MaxTopics)
	case p.deliverCap > 1 && !proves:
		p.fault("--deliver-cap %d: for whom? --ingress-token-file, --ingress-allow or --ingress-client-ca says", p.deliverCap)
	}
	cfg.DeliverCap = p.deliverCap
	for i := range cfg.Doors {
		cfg.Doors[i].DeliverCap, cfg.Doors[i].Allow, cfg.Doors[i].TLS = p.deliverCap, allow, secure
	}
}

func (p *nodeParser) egress(cfg *beefnode.Config) {
	if p.egressListen != "" {
		p.hostPort("egress-listen", p.egressListen)
	}
	names := make(map[string]bool)
	for _, s := range p.egressDial {
		d, err := lane.ParseDial(s)
		if err != nil {
			p.fault("--egress-dial: %v", err)
			continue
		}
		if names[d.Name] {
			p.fault("--egress-dial: name %q twice", d.Name)
		}
		names[d.Name] = true
		cfg.EgressDial = append(cfg.EgressDial, d)
	}
}

// whole looks for what is half-configured: flags that are right alone and make
// no sense together.
func (p *nodeParser) whole(cfg *beefnode.Config) {
	if !cfg.Broker && len(p.join) == 0 {
		p.fault("neither --broker nor --join: the node would have no part in any cohort")
	}
	if cfg.Ingress() && !cfg.Opens() && !cfg.Joins() {
		p.fault("an ingress needs the BEEF cohort: --broker, or --join beef@MADDR")
	}
	if cfg.Opens() && cfg.Joins() {
		p.fault("both --broker and --join for the BEEF cohort")
	}
	if cfg.Sink != nil && !cfg.Opens() && !cfg.Joins() && len(p.join) == len(cfg.Join) {
		p.fault("--sink needs the BEEF cohort: --join beef@MADDR, or --broker with an ingress")
	}
	if len(p.egressDial)+len(p.egressListen) > 0 && !cfg.Opens() && !cfg.Joins() && len(p.join) == len(cfg.Join) {
		p.fault("an egress needs the BEEF cohort: --join beef@MADDR, or --broker with an ingress")
	}
}
