package main

import (
	"github.com/spf13/pflag"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/wire/beef"
)

// limitFlags bound what publishers and consumers can make the node do. In each,
// 0 is the default.
type limitFlags struct {
	objects     float64
	bytes       float64
	nodeObjects float64
	queue       string
}

func (f *limitFlags) register(flags *pflag.FlagSet) {
	flags.Float64Var(&f.objects, "ingress-rate", 0, "objects a second of one source at one door; 0 = 100, negative = no limit")
	flags.Float64Var(&f.bytes, "ingress-rate-bytes", 0, "bytes a second of one source at one door; 0 = 4 MiB, negative = no limit")
	flags.Float64Var(&f.nodeObjects, "ingress-rate-node", 0, "objects a second of all doors together; 0 = 1000, negative = no limit")
	flags.StringVar(&f.queue, "egress-queue", "",
		"what may wait for one consumer before its lane is closed, as 64M; at least one object of --object-max; empty = 64 MiB")
}

// limits reads them.
func (p *nodeParser) limits(cfg *beefnode.Config) {
	l := &cfg.IngressLimits
	l.Objects, l.Bytes, l.NodeObjects = p.limited.objects, p.limited.bytes, p.limited.nodeObjects
	if (l.Objects != 0 || l.Bytes != 0 || l.NodeObjects != 0) && !cfg.Ingress() {
		p.fault("--ingress-rate: there is no ingress to limit")
	}
	if p.limited.queue == "" {
		return
	}
	size, err := parseSize(p.limited.queue)
	if err != nil {
		p.fault("--egress-queue %q: %v", p.limited.queue, err)
		return
	}
	most := int64(p.objectMax)
	if most == 0 {
		most = beef.DefaultMaxObject
	}
	if most += beef.MaxEnvelope + beef.HeaderSize; size < most {
		p.fault("--egress-queue %q: want at least the largest record, %d bytes", p.limited.queue, most)
	}
	cfg.EgressLimits.Queue = size
}
