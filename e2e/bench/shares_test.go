package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
)

// Components are told by the innermost function that says something; the runtime's
// own work counts for whom it is done, unless it is memory or scheduling.
func TestComponentOf(t *testing.T) {
	for _, c := range []struct {
		stack []frame
		want  component
	}{
		{[]frame{{"treecast/wire/soc/curve.fieldMul", "field.go"}, {"treecast/wire/soc.VerifyBatch", "batch.go"}, {"treecast/node.(*verifier).work", "verify.go"}}, compSignature},
		{[]frame{{"runtime.cgocall", ""}, {"github.com/ethereum/go-ethereum/crypto/secp256k1._Cfunc_secp256k1_ext_ecdsa_recover", ""}}, compSignature},
		{[]frame{{"github.com/cloudflare/circl/simd/keccakf1600.f1600x4AVX2", ""}, {"treecast/wire/soc.bmt", "/a/bmt.go"}}, compMerkle},
		{[]frame{{"golang.org/x/crypto/sha3.keccakF1600", ""}, {"treecast/wire/soc.Keccak256", "/a/keccak.go"}}, compMerkle},
		{[]frame{{"treecast/wire/soc.examine", "/a/verify.go"}}, compSignature},
		{[]frame{{"treecast/wire/soc.bmt", "/a/bmt.go"}, {"treecast/wire/soc.(*Key).Sign", "/a/key.go"}, {"main.x", ""}}, compSigning},
		{[]frame{{"crypto/internal/fips140/edwards25519.x", ""}, {"github.com/libp2p/go-libp2p-pubsub.verifyMessageSignature", "sign.go"}}, compMessages},
		{[]frame{{"runtime.memmove", ""}, {"treecast/node/retain.(*Ring).Add", "ring.go"}, {"treecast/node.(*loop).step", "loop.go"}}, compKept},
		{[]frame{{"runtime.mallocgc", ""}, {"treecast/node/retain.(*Ring).Add", "ring.go"}}, compMemory},
		{[]frame{{"runtime.scanobject", ""}, {"runtime.gcDrain", ""}, {"runtime.gcBgMarkWorker", ""}}, compMemory},
		{[]frame{{"runtime.futex", ""}, {"runtime.schedule", ""}}, compScheduler},
		{[]frame{{"runtime.chansend", ""}, {"treecast/node.(*reading).flush", "reader.go"}}, compScheduler},
		{[]frame{{"internal/runtime/syscall.EpollWait", ""}, {"runtime.netpoll", ""}}, compScheduler},
		{[]frame{{"internal/runtime/syscall.Syscall6", ""}, {"syscall.RawSyscall6", ""}, {"syscall.write", ""}, {"internal/poll.(*FD).Write", ""}}, compSockets},
		{[]frame{{"golang.org/x/crypto/chacha20poly1305.open", ""}, {"github.com/flynn/noise.(*CipherState).Decrypt", ""}}, compNoise},
		{[]frame{{"github.com/libp2p/go-yamux/v5.(*Session).send", ""}}, compYamux},
		{[]frame{{"github.com/libp2p/go-libp2p/p2p/net/swarm.(*Stream).Write", ""}, {"treecast/node.(*stream).write", "writer.go"}}, compYamux},
		{[]frame{{"treecast/node.(*stream).write", "/a/node/writer.go"}}, compWriters},
		{[]frame{{"treecast/node.(*stream).read", "/a/node/reader.go"}}, compReaders},
		{[]frame{{"runtime.mapaccess1", ""}, {"treecast/tree.(*Cohort).Step", "cohort.go"}}, compCore},
		{[]frame{{"github.com/libp2p/go-libp2p-pubsub.(*GossipSubRouter).Publish", "/b/gossipsub.go"}}, compCore},
		{[]frame{{"github.com/libp2p/go-libp2p-pubsub.(*PubSub).handleSendingMessages", "/b/comm.go"}}, compWriters},
		{[]frame{{"github.com/libp2p/go-libp2p-pubsub.(*MessageCache).Put", "/b/mcache.go"}}, compKept},
		{[]frame{{"github.com/libp2p/go-libp2p-pubsub/pb.(*RPC).Unmarshal", "/b/rpc.pb.go"}}, compReaders},
		{[]frame{{"main.(*sink).take", ""}}, compProgram},
		{[]frame{{"treecast/e2e/cluster.Pace", ""}}, compProgram},
		{[]frame{{"encoding/json.x", ""}}, compOther},
		{nil, compOther},
	} {
		if got := componentOf(c.stack); got != c.want {
			t.Errorf("%v: %s, want %s", c.stack, componentNames[got], componentNames[c.want])
		}
	}
	for c, name := range componentNames {
		if name == "" || componentColours[c] == "" {
			t.Errorf("component %d has no name or colour", c)
		}
	}
}

// writeProfile makes a CPU profile of functions, each alone on its stack.
func writeProfile(t *testing.T, file string, of map[string]int64) {
	t.Helper()
	p := &pprof.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}}
	for name, ns := range of {
		id := uint64(len(p.Function) + 1)
		fn := &pprof.Function{ID: id, Name: name}
		loc := &pprof.Location{ID: id, Line: []pprof.Line{{Function: fn}}}
		p.Function, p.Location = append(p.Function, fn), append(p.Location, loc)
		p.Sample = append(p.Sample, &pprof.Sample{Location: []*pprof.Location{loc}, Value: []int64{1, ns}})
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := p.Write(f); err != nil {
		t.Fatal(err)
	}
}

// What the profiles of a workload say is added up over its rounds, and stands beside
// the other side's in a table and a picture.
func TestProfileReport(t *testing.T) {
	p := profiles{dir: t.TempDir()}
	const w = "closed-4096-n32"
	writeProfile(t, p.next(w, ourSide, 0).file, map[string]int64{"main.x": 100, "treecast/tree.y": 200})
	writeProfile(t, p.next(w, ourSide, 1).file, map[string]int64{"treecast/tree.y": 100})
	p.next(w, ourSide, 1) // again, beside another opponent
	writeProfile(t, p.next(w, "tuned", 0).file, map[string]int64{"github.com/flynn/noise.z": 5})
	of, err := foldProfiles(p.list[0].files)
	if err != nil {
		t.Fatal(err)
	}
	if of[compProgram] != 0.25 || of[compCore] != 0.75 {
		t.Errorf("shares %v", of)
	}
	var b strings.Builder
	if err := p.report(&b, sampleRows()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{w, "treecast", "tuned", "25.0 %", "75.0 %", "75.0", "100.0 %", "300.0", "noise"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), componentNames[compYamux]) {
		t.Errorf("a line of nothing in\n%s", b.String())
	}
	data, err := os.ReadFile(filepath.Join(p.dir, "shares-"+w+".svg"))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, string(data))
	// The longer side is as long as there is room, ours a third of it.
	for _, want := range []string{`width="560.0"`, `width="140.0"`, "100.0 µs", "300.0 µs"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in\n%s", want, data)
		}
	}
	if (&profiles{}).next(w, ourSide, 0).file != "" {
		t.Error("a profile without a folder")
	}
	p.next(w, "default", 0)
	if err := p.report(&b, nil); err == nil {
		t.Error("a profile that is not there is no error")
	}
}
