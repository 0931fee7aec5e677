package main

import (
	"fmt"
	"strconv"
	"strings"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/wire/beef"
)

// maxGroups is how many cohorts one node takes on for the BEEF plane.
const maxGroups = 4096

// sharding reads --shard-bits and --groups.
func (p *nodeParser) sharding(cfg *beefnode.Config) {
	if p.shardBits < 0 || p.shardBits > beef.MaxShardBits {
		p.fault("--shard-bits %d: want 0 to %d", p.shardBits, beef.MaxShardBits)
		return
	}
	cfg.ShardBits = p.shardBits
	first, last := beef.BaseGroup, beef.BaseGroup+1<<p.shardBits-1
	for _, s := range p.groups {
		from, to, err := groupRange(s, first, last)
		if err != nil {
			p.fault("--groups %q: %v", s, err)
			return
		}
		for group := from; group <= to; group++ {
			cfg.Groups = append(cfg.Groups, group)
		}
	}
}

// groupRange reads one group, two with a dash between them, or all of them.
func groupRange(s string, first, last uint32) (from, to uint32, err error) {
	if s == "all" {
		return first, last, nil
	}
	low, high, isRange := strings.Cut(s, "-")
	if !isRange {
		high = low
	}
	for _, end := range []struct {
		text string
		to   *uint32
	}{{low, &from}, {high, &to}} {
		n, err := strconv.ParseUint(strings.TrimPrefix(end.text, "0x"), 16, 32)
		if err != nil || uint32(n) < first || uint32(n) > last {
			return 0, 0, fmt.Errorf("want groups from %x to %x", first, last)
		}
		*end.to = uint32(n)
	}
	if from > to {
		return 0, 0, fmt.Errorf("%x is above %x", from, to)
	}
	return from, to, nil
}

// wholeSharding looks for a sharded node that would be in no group, or in too many.
func (p *nodeParser) wholeSharding(cfg *beefnode.Config) {
	all := (cfg.Opens() || cfg.Ingress()) && len(cfg.Groups) == 0
	if most := len(cfg.Groups); most > maxGroups || all && 1<<cfg.ShardBits > maxGroups {
		p.fault("--shard-bits %d: a node takes %d groups at most; --groups names them", cfg.ShardBits, maxGroups)
	}
	if cfg.ShardBits == 0 || len(cfg.Groups) > 0 || cfg.Opens() || cfg.Ingress() || !cfg.Joins() {
		return
	}
	aggregates := false
	for i := range cfg.EgressDial {
		aggregates = aggregates || len(cfg.EgressDial[i].Election.Topics) == 0
	}
	if cfg.Sink != nil && len(cfg.Sink.Election.Topics) == 0 {
		p.fault("--shard-bits %d: a sink for all topics needs --groups", cfg.ShardBits)
	}
	switch {
	case aggregates:
		p.fault("--shard-bits %d: a lane for all topics needs --groups", cfg.ShardBits)
	case cfg.Sink == nil && len(cfg.EgressDial) == 0 && cfg.EgressListen == "" && cfg.API == "":
		p.fault("--shard-bits %d: without consumers, --groups says which groups to relay", cfg.ShardBits)
	}
}
