package main

import (
	"github.com/cespare/xxhash/v2"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
)

// bestName is the opponent with the strongest settings that were found.
const bestName = "best"

// rivals are the ways in which gossipsub is set up. All carry the same chunks and
// check each once a host, in a goroutine a message, as the library has it unless
// told otherwise.
//
// tuned, default and stock change what they are called after and nothing else, on
// hosts that are all connected to each other. best is for whoever measures on: its
// hosts have ten random links each. A host grafts D of those it has a link to and
// takes the grafts of others; with fewer links more of these meet, so its mesh has
// 3.2 members on the mean of 32 hosts, that of tuned 4.4 and up to 11, and a message
// comes about once less than there are members. The workload
// closed-4096-n32-settings changes one setting of best at a time.
var rivals = map[string]gossipConfig{
	"tuned":   {d: 3, queues: 1024},
	"default": {signed: true, queues: 1024},
	"stock":   {signed: true},
	bestName:  {degree: 10, d: 3, dlazy: 3, queues: 1024},
	// best with one thing changed.
	"narrow": {degree: 10, d: 3, dhi: 4, dlazy: 3, queues: 1024},
	"half":   {degree: 10, d: 3, dhi: 6, dlazy: 3, queues: 1024},
	"inline": {degree: 10, d: 3, dlazy: 3, queues: 1024, inline: true},
	// A message is a whole object; nothing is a chunk, nothing is checked.
	"whole": {degree: 10, d: 3, dlazy: 3, queues: 1024, noCheck: true, maxSize: 2 << 20},
}

// rivalLoad is the load as one opponent has it.
func rivalLoad(w *workload, opponent string) *load {
	l := w.load
	if opponent == "whole" {
		l.objects, l.window = false, objectWindow
	}
	return &l
}

// gossipConfig is how an opponent is set up.
type gossipConfig struct {
	degree  int  // connections that each host has at least; 0 = to all
	signed  bool // the library's own signatures, on top of the chunk's
	d       int  // mesh degree; 0 = the library's
	dhi     int  // the degree above which a mesh is pruned; 0 = the library's
	dlazy   int  // to how many others a host gossips at least; 0 = the library's
	queues  int  // of all three queues; 0 = the library's
	inline  bool // the check runs in the validation workers, not in a goroutine a message
	maxSize int  // of a message; 0 = the library's
	noCheck bool // messages are plain bytes, no chunks
}

// params are the mesh's. A D below the library's takes with it what must not exceed
// it: Dlo and Dscore, and Dout, which the library wants below Dlo and D/2.
func (c *gossipConfig) params() pubsub.GossipSubParams {
	p := pubsub.DefaultGossipSubParams()
	if c.d > 0 {
		p.D, p.Dlo, p.Dscore, p.Dout = c.d, c.d-1, c.d-1, max(0, c.d/2-1)
	}
	if c.dhi > 0 {
		p.Dhi = c.dhi
	}
	if c.dlazy > 0 {
		p.Dlazy = c.dlazy
	}
	return p
}

func (c *gossipConfig) options() (opts []pubsub.Option) {
	if !c.signed {
		opts = append(opts, pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), pubsub.WithNoAuthor(), pubsub.WithMessageIdFn(messageID))
	}
	if c.d > 0 {
		opts = append(opts, pubsub.WithGossipSubParams(c.params()))
	}
	if c.queues > 0 {
		opts = append(opts, pubsub.WithPeerOutboundQueueSize(c.queues), pubsub.WithValidateQueueSize(c.queues))
	}
	if c.maxSize > 0 {
		opts = append(opts, pubsub.WithMaxMessageSize(c.maxSize))
	}
	return opts
}

func (c *gossipConfig) subscription() []pubsub.SubOpt {
	if c.queues == 0 {
		return nil
	}
	return []pubsub.SubOpt{pubsub.WithBufferSize(c.queues)}
}

// messageID is cheap and short: XXH64 over the message. Without the library's own
// signatures a message has neither author nor number to be told by.
func messageID(m *pb.Message) string {
	h := xxhash.Sum64(m.Data)
	return string([]byte{byte(h), byte(h >> 8), byte(h >> 16), byte(h >> 24), byte(h >> 32), byte(h >> 40), byte(h >> 48), byte(h >> 56)})
}
