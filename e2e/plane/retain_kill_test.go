package plane_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/e2e/cluster"
	"treecast/e2e/plane"
	"treecast/node"
	"treecast/node/retain"
	"treecast/wire"
	"treecast/wire/beef"
	"treecast/wire/soc"
)

// keeps asks a node for the chunks of a feed up to an index, as any node may
// (PROTOCOL §8), verifies them, and returns which ones it has and which it says
// were never published.
func keeps(t *testing.T, from *cluster.Daemon, owner wire.Owner, last uint64) (have map[uint64]bool, void []wire.IndexRange) {
	t.Helper()
	h, err := libp2p.New(libp2p.NoListenAddrs, libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	info, err := peer.AddrInfoFromString(from.Addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Connect(ctx, *info); err != nil {
		t.Fatal(err)
	}
	topic := wire.Topic(beef.CohortTopic(beef.BaseGroup))
	have = make(map[uint64]bool)
	for first := uint64(0); first <= last; first += wire.MaxRecover {
		req := wire.RecoverRequest{Topic: topic, Owner: owner, Range: wire.IndexRange{From: first, To: min(last, first+wire.MaxRecover-1)}}
		s, err := h.NewStream(ctx, info.ID, node.RecoverProtocolID)
		if err != nil {
			t.Fatal(err)
		}
		end, err := retain.Fetch(s, wire.NewReader(s, wire.NewPool()), &req, func(buf *wire.Buf, x *wire.Soc) error {
			defer buf.Release()
			chunk := soc.Chunk{ID: x.ID, Owner: x.Owner, Signature: x.Signature, Span: x.Span, Payload: x.Payload}
			if _, err := soc.Verify(&chunk); err != nil {
				return err
			}
			if id := soc.FeedID(topic[:], x.Index); id != [32]byte(x.ID) || wire.Owner(x.Owner) != owner {
				return fmt.Errorf("index %d is not what was signed", x.Index)
			}
			have[x.Index] = true
			return nil
		})
		s.Close()
		if err != nil {
			t.Fatalf("%s: chunks from %d: %v", from.Name, first, err)
		}
		void = append(void, end.Void...)
	}
	return have, void
}

// TestRetainingNodeKilled kills a broker that retains twenty times while objects
// come in, and each time it has opened its store again, has all that was confirmed
// and everything below: chunks, or word that an index was never used.
func TestRetainingNodeKilled(t *testing.T) {
	const kills, workers = 20, 8
	rng := seeded(t)
	sizes := plane.Sizes(50_000, 0)
	for i := range sizes {
		sizes[i] = 100 + rng.IntN(4000)
		if i%20 == 0 {
			sizes[i] += rng.IntN(60_000)
		}
	}
	set := plane.NewSet(rng.Uint64(), sizes)
	api := cluster.FreePort(t)
	args := append([]string{
		"--broker", "--data-dir", filepath.Join(t.TempDir(), "broker"), "--retain", "1G", "--log-level", "warn",
		"--ingress-tcp", "127.0.0.1:0", "--api", api, "--listen", "/ip4/127.0.0.1/tcp/" + port(t),
	}, unlimited...)
	broker := cluster.StartNode(t, treecast, "broker", args...)
	owner := ownerOf(t, broker.Publisher)
	ctx, cancel := context.WithCancel(t.Context())
	var looking sync.RWMutex // held while nothing new shall be submitted
	s := &submission{set: set, submitter: &plane.Submitter{Topic: "tm_plane", URL: func() string {
		looking.RLock()
		defer looking.RUnlock()
		return "http://" + api + "/submit"
	}}}
	var done sync.WaitGroup
	done.Go(func() { s.submit(ctx, workers) }) // ends with ctx
	defer done.Wait()
	defer cancel()
	confirmed, chunks := 0, 0
	for range kills {
		next := s.sofar() + 1 + rng.IntN(150)
		cluster.Eventually(t, time.Minute, "submissions are answered", func() (bool, string) {
			return s.sofar() >= next, fmt.Sprintf("%d, want %d", s.sofar(), next)
		})
		answers := s.answers() // what is answered from now on may be too late
		broker.Kill()
		broker = cluster.StartNode(t, treecast, "broker", args...)
		var last uint64
		for _, seq := range answers {
			last = max(last, seq)
		}
		have, void := func() (map[uint64]bool, []wire.IndexRange) {
			looking.Lock() // a fast machine would be through with all before the last kill
			defer looking.Unlock()
			return keeps(t, broker, owner, last-1)
		}()
		for i, seq := range answers {
			if seq > 0 && !have[seq-1] {
				t.Errorf("object %d was confirmed under %d, which is not kept", i, seq)
			}
		}
		for index := range last {
			if !have[index] && !within(void, index) {
				t.Errorf("index %d is neither kept nor void, and %d was confirmed", index, last-1)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
		confirmed, chunks = s.sofar(), len(have)
	}
	t.Logf("%d objects confirmed, %d chunks kept over %d kills", confirmed, chunks, kills)
}

// ownerOf reads an address.
func ownerOf(t *testing.T, text string) (owner wire.Owner) {
	t.Helper()
	if n, err := hex.Decode(owner[:], []byte(text)); err != nil || n != len(owner) {
		t.Fatalf("owner %q: %v", text, err)
	}
	return owner
}

func within(list []wire.IndexRange, index uint64) bool {
	for _, r := range list {
		if r.Has(index) {
			return true
		}
	}
	return false
}
