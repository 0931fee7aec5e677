package main

import (
	"path"
	"strings"
)

// A component is what CPU time is spent on, told by the innermost function on a
// stack whose package says so. The same names hold for both sides.
type component int

const (
	compSignature component = iota
	compMerkle
	compSigning
	compMessages
	compNoise
	compYamux
	compSockets
	compReaders
	compWriters
	compCore
	compKept
	compScheduler
	compMemory
	compProgram
	compOther
	numComponents
)

var componentNames = [numComponents]string{
	"check: signature", "check: Merkle tree", "signing, the publisher's", "signatures of the library's own",
	"noise", "yamux and streams", "sockets", "readers: framing, decoding", "writers: queues, encoding",
	"loop and core / router", "kept chunks / caches", "scheduler, hand-overs", "allocation, collection",
	"this program", "other",
}

// A frame is one function on a stack.
type frame struct{ fn, file string }

// byPackage are the components of functions, by the beginning of their names. The
// first that fits counts.
var byPackage = []struct {
	prefix string
	comp   component
}{
	{"treecast/wire/soc/curve.", compSignature},
	{"github.com/ethereum/go-ethereum/crypto/secp256k1.", compSignature},
	{"github.com/decred/dcrd/dcrec/secp256k1", compSignature},
	{"github.com/cloudflare/circl/simd/keccakf1600.", compMerkle},
	{"treecast/wire/soc.", compSignature},
	{"treecast/wire.", compReaders},
	{"treecast/node/retain.", compKept},
	{"treecast/node.", compCore},
	{"treecast/node/", compCore},
	{"treecast/tree.", compCore},
	{"treecast/probe.", compCore},
	{"treecast/e2e/", compProgram},
	{"main.", compProgram},
	{"github.com/libp2p/go-libp2p-pubsub/timecache.", compKept},
	{"github.com/libp2p/go-libp2p-pubsub/pb.", compReaders},
	{"github.com/libp2p/go-libp2p-pubsub.(*MessageCache)", compKept},
	{"github.com/libp2p/go-libp2p-pubsub.", compCore},
	{"github.com/gogo/protobuf/", compReaders},
	{"google.golang.org/protobuf/", compReaders},
	{"github.com/libp2p/go-msgio", compReaders},
	{"github.com/flynn/noise.", compNoise},
	{"github.com/libp2p/go-libp2p/p2p/security/noise.", compNoise},
	{"github.com/libp2p/go-yamux", compYamux},
	{"github.com/libp2p/go-libp2p", compYamux},
	{"github.com/multiformats/go-multistream.", compYamux},
	{"internal/poll.", compSockets},
	{"syscall.", compSockets},
	{"net.", compSockets},
}

// byFile are those of functions whose package has several components.
var byFile = map[string]map[string]component{
	"treecast/wire/soc.": {
		"bmt.go": compMerkle, "keccak.go": compMerkle, "pairs.go": compMerkle, "pairs2.go": compMerkle,
		"pairs4_amd64.go": compMerkle, "pairs4_amd64.s": compMerkle, "pairs4_other.go": compMerkle,
	},
	"treecast/node.": {
		"reader.go": compReaders, "writer.go": compWriters, "queue.go": compWriters,
		"verify.go": compCore,
	},
	"github.com/libp2p/go-libp2p-pubsub.": {"comm.go": compWriters, "rpc_queue.go": compWriters},
}

// under are functions below which all is of one component.
var under = []struct {
	part string
	comp component
}{
	{"treecast/wire/soc.(*Key).Sign", compSigning},
	{"github.com/libp2p/go-libp2p-pubsub.signMessage", compMessages},
	{"github.com/libp2p/go-libp2p-pubsub.verifyMessageSignature", compMessages},
}

// memory and scheduler are functions of the runtime that stand for themselves; what
// else it does, as moving bytes, is its caller's.
var (
	memory = []string{
		"malloc", "newobject", "makeslice", "growslice", "gc", "scan", "grey", "markroot", "sweep", "scavenge", "bgs", "mspan", "mheap", "mcache", "mcentral",
		"wbBuf", "stkbucket", "bulkBarrier", "heapBits", "typePointers", "findObject", "pageAlloc", "persistentalloc", "spanOf", "madvise", "sysUsed", "sysUnused", "tryDeferToSpan", "profilealloc",
	}
	scheduler = []string{
		"schedule", "findRunnable", "findrunnable", "park", "ready", "goready", "wakep", "startm", "stopm", "futex", "note", "netpoll", "chansend", "chanrecv", "selectgo", "sellock",
		"runq", "casgstatus", "execute", "mcall", "goexit", "newproc", "semacquire", "semrelease", "readySudog", "handoff", "retake", "sysmon", "usleep", "osyield", "procyield",
		"lock2", "unlock2", "timer", "resettimer", "stealWork", "pidle", "mstart", "exitsyscall", "entersyscall", "reentersyscall", "checkTimers", "epoll", "gosched", "Gosched", "goschedImpl", "pMask",
	}
)

// componentOf tells a stack's component, its innermost frame first.
func componentOf(stack []frame) component {
	for _, f := range stack {
		for _, u := range under {
			if strings.HasPrefix(f.fn, u.part) {
				return u.comp
			}
		}
	}
	for _, f := range stack {
		if name, ok := runtimeName(f.fn); ok {
			if hasAny(name, memory) {
				return compMemory
			}
			if hasAny(name, scheduler) {
				return compScheduler
			}
			continue
		}
		for _, p := range byPackage {
			if strings.HasPrefix(f.fn, p.prefix) {
				if c, ok := byFile[p.prefix][path.Base(f.file)]; ok {
					return c
				}
				return p.comp
			}
		}
	}
	if len(stack) > 0 {
		if _, ok := runtimeName(stack[0].fn); ok {
			return compScheduler
		}
	}
	return compOther
}

// runtimeName is a function of the runtime without its package.
func runtimeName(fn string) (name string, ok bool) {
	for _, prefix := range []string{"runtime.", "internal/runtime/"} {
		if name, ok := strings.CutPrefix(fn, prefix); ok {
			return name, true
		}
	}
	return "", false
}

func hasAny(name string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(name, p) {
			return true
		}
	}
	return false
}
