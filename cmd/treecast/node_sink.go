package main

import (
	"github.com/spf13/pflag"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/node/sink"
)

// sinkFlags say where objects are stored beside this node.
type sinkFlags struct {
	target string
	creds  string
	ca     string
}

func (f *sinkFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.target, "sink", "",
		"nats://[USER:PASSWORD@]HOST:PORT[/STREAM][?topics=A,B]: store every object in that JetStream stream, BEEF if none is named; "+
			"tls:// insists on TLS; needs --retain. A password is better given as TREECAST_SINK or in the YAML file")
	flags.StringVar(&f.creds, "sink-creds", "", "file of NATS user credentials for --sink")
	flags.StringVar(&f.ca, "sink-ca", "", "PEM file with the authorities of the --sink server's certificate; with it TLS is a must")
}

// sink reads them.
func (p *nodeParser) sink(cfg *beefnode.Config) {
	if p.stored.target == "" {
		if p.stored.creds != "" || p.stored.ca != "" {
			p.fault("--sink-creds and --sink-ca without --sink")
		}
		return
	}
	target, err := sink.ParseTarget(p.stored.target)
	if err != nil {
		p.fault("--sink: %v", err)
	}
	cfg.Sink, cfg.SinkCreds, cfg.SinkCA = &target, p.stored.creds, p.stored.ca
	if p.retained.size == "" {
		p.fault("--sink without --retain: a sink stores what the node keeps, at its own pace")
	}
	if p.stored.creds != "" {
		if err := sink.CheckCreds(p.stored.creds); err != nil {
			p.fault("--sink-creds: %v", err)
		}
	}
	if p.stored.ca != "" {
		if _, err := sink.ReadCA(p.stored.ca); err != nil {
			p.fault("--sink-ca: %v", err)
		}
	}
}
