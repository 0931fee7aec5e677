package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"treecast/node/lane"
)

// nodeFlags are the flags of `treecast node`, as they were given.
type nodeFlags struct {
	dataDir       string
	listen        []string
	api           string
	apiTokenFile  string
	broker        bool
	join          []string
	networkID     uint64
	capacity      int
	parents       int
	publishers    []string
	admin         string
	openPolicy    string
	openAllow     []string
	ingressTCP    string
	ingressUDP    string
	ingressRecord string
	ingressToken  string
	ingressAllow  []string
	ingressTLS    tlsFlags
	deliverCap    int
	objectMax     int
	sender        string
	shardBits     int
	groups        []string
	egressListen  string
	egressDial    []string
	allowPrivate  bool
	retained      retainFlags
	stored        sinkFlags
	limited       limitFlags
	config        string
}

// addressFlags take an address that may be left out: then the default port on
// every interface is meant.
var addressFlags = map[string]int{
	"ingress-tcp":    lane.DefaultTCPPort,
	"ingress-udp":    lane.DefaultTCPPort,
	"ingress-record": lane.DefaultRecordPort,
	"egress-listen":  lane.DefaultEgressPort,
}

// bindAddresses joins one of addressFlags with the address in the next argument.
// pflag takes the value of a flag that may stand alone only behind an equals
// sign; the node command has no other use for a bare word.
func bindAddresses(args []string) []string {
	out := []string{} // never nil, for which cobra would take the process's own
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		_, optional := addressFlags[name]
		if isFlag && optional && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			out = append(out, args[i]+"="+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	return out
}

// register declares the flags.
func (f *nodeFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	address := func(p *string, name, usage string) {
		flags.StringVar(p, name, "", usage)
		flags.Lookup(name).NoOptDefVal = fmt.Sprintf(":%d", addressFlags[name])
	}
	flags.StringVar(&f.dataDir, "data-dir", defaultDataDir(), "directory of keys, cohorts and indices; made if missing")
	flags.StringArrayVar(&f.listen, "listen", []string{"/ip4/0.0.0.0/tcp/0", "/ip4/0.0.0.0/udp/0/quic-v1"},
		"multiaddr to listen on, tcp or quic; may be repeated")
	flags.StringVar(&f.api, "api", "", "address of the HTTP API, POST /submit and GET /deliver, HOST:PORT; empty = none")
	flags.StringVar(&f.apiTokenFile, "api-token-file", "", "file with the API's bearer token; needed off loopback")
	flags.BoolVar(&f.broker, "broker", false, "be the root of cohorts; with an ingress, open the BEEF cohort")
	flags.StringArrayVar(&f.join, "join", nil,
		"TOPIC@MADDR: cohort to join and a node of it; TOPIC is 64 hex digits, a name, or beef; may be repeated")
	flags.Uint64Var(&f.networkID, "network-id", 1, "part of every node's overlay address")
	flags.IntVar(&f.capacity, "capacity", 16, "child slots per cohort, a broker's are 32 if not set; 0 = never relay")
	flags.IntVar(&f.parents, "parents", 2, "parents to keep, 1 or 2")
	flags.StringSliceVar(&f.publishers, "publishers", nil, "addresses that may publish, beside the admin")
	flags.StringVar(&f.admin, "admin", "", "address of the cohorts' admin; a broker's is its publisher key if not set")
	flags.StringVar(&f.openPolicy, "open-policy", "api", "who else may open cohorts here: api = nobody, list = --open-allow, anyone")
	flags.StringSliceVar(&f.openAllow, "open-allow", nil, "peer IDs that may open cohorts, with --open-policy list")
	address(&f.ingressTCP, "ingress-tcp", "take submission records and object frames at this address")
	address(&f.ingressUDP, "ingress-udp", "take them as datagrams at this address, one in each")
	address(&f.ingressRecord, "ingress-record", "take submission records alone at this address")
	flags.StringVar(&f.ingressToken, "ingress-token-file", "",
		"file with the bearer token of POST /submit, in place of the API's; by itself it makes an ingress")
	flags.StringSliceVar(&f.ingressAllow, "ingress-allow", nil, "addresses or prefixes of TCP publishers that --deliver-cap is for")
	f.ingressTLS.register(flags)
	flags.IntVar(&f.deliverCap, "deliver-cap", 1,
		"names of a record made deliverable for publishers with the token, an allowed address or a client certificate, 1 to 15")
	flags.IntVar(&f.objectMax, "object-max", 0, "longest object in bytes; 0 = 16 MiB")
	flags.StringVar(&f.sender, "sender", "", "IPv6 address that names the ingress; empty = made of the overlay address")
	flags.IntVar(&f.shardBits, "shard-bits", 0, "leading topic bits that choose a group, 0 to 15; the same at every node of the plane")
	flags.StringSliceVar(&f.groups, "groups", nil,
		"groups to be in whatever consumers elect, as 1000 or 1000-100f, or all; none = all for a broker or ingress, else what they elect")
	address(&f.egressListen, "egress-listen", "let consumers connect at this address")
	flags.StringArrayVar(&f.egressDial, "egress-dial", nil,
		"NAME@HOST:PORT=TOPIC,TOPIC: consumer to connect to and what it elects, * = all; may be repeated")
	f.retained.register(flags)
	f.stored.register(flags)
	f.limited.register(flags)
	flags.BoolVar(&f.allowPrivate, "allow-private", false, "believe candidates' loopback and private addresses")
	flags.StringVar(&f.config, configFlag, "", "YAML file of settings named as these flags")
}

func defaultDataDir() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return "" // then it has to be set
	}
	return filepath.Join(home, ".treecast")
}
