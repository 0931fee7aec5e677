package sim

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// epoch is the cores' time at the start of a run.
var epoch = time.Unix(1_000_000_000, 0)

// world is all there is: nodes, streams, frames and what is to come.
type world struct {
	cfg   Config
	rng   *rand.Rand
	spec  wire.Spec
	trace *trace
	now   int64 // ns
	q     queue
	sent  int  // frames
	stop  bool // Config.Frames are used up

	population
	wires
	stepping
	pending
	split
	blocks

	chunks chunks
	stats  stats
	graph  graph
}

// population is everybody. Node 0 is the broker.
type population struct {
	nodes []node
	live  []int32 // all but the broker, in no order
}

// wires are the streams and the frames on them, in slots that are used again.
type wires struct {
	streams     []stream
	freeStreams []int32
	frames      []frame
	freeFrames  []int32
}

// stepping is the scratch of one step. Events that are frequent are used again.
type stepping struct {
	acts   []tree.Action
	after  []follow
	msg    wire.Broadcast
	frame  tree.Frame
	judged tree.Verified
	answer int32 // stream whose Ack is being taken
	slots  bool  // the node took a child or asked one to move
	copies uint32
}

// pending counts what a rest point waits for, and what may be left then.
type pending struct {
	flying    int // chunks on their way
	notices   int // ends of streams on their way
	events    int // played
	planned   int // joins, deaths and publications to come
	lost      int // nodes that noticed a loss and are not healed
	joining   int // nodes that have started and were never settled
	unsettled int // live nodes that lack a parent
	held      int // chunks that cores hold
}

// split is the partition of the episode under way.
type split struct {
	cutPlanned bool
	cutUntil   int64 // while it lasts, its end; else 0
	breaks     bool  // it lasts longer than liveness does
}

// blocks are who refuses whom for forged chunks, and until when.
type blocks struct {
	blocked map[[2]int32]int64
	blames  map[[2]int32][]int64
}

func newWorld(cfg Config) (*world, error) {
	w := &world{
		cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x7472656563617374)), trace: newTrace(cfg.Trace),
		blocks: blocks{map[[2]int32]int64{}, map[[2]int32][]int64{}},
	}
	w.answer = -1
	topic := sha256.Sum256([]byte("treecast sim"))
	w.spec = wire.Spec{Topic: topic, Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: topic[:20]}
	if err := w.addBroker(); err != nil {
		return nil, err
	}
	return w, nil
}

// at is simulated time for a core.
func (w *world) at() time.Time { return epoch.Add(time.Duration(w.now)) }

// plan puts an event in that a rest point waits for.
func (w *world) plan(kind eventKind, e event) {
	w.planned++
	w.q.push(kind, e)
}

// run plays what is to come until done says so, at the latest until time limit.
func (w *world) run(limit int64, done func() bool) {
	for w.q.len() > 0 && !w.stop && !(done != nil && done()) {
		if w.q.heap[0].at > limit {
			break
		}
		e := w.q.pop()
		w.now = e.at
		w.play(&e)
		w.events++
		if w.sent >= w.cfg.Frames || w.events&0xfff == 0 && w.cfg.Stop != nil && w.cfg.Stop() {
			w.stop = true
		}
	}
	if done == nil || !done() {
		w.now = max(w.now, limit)
	}
}

// play does one event.
func (w *world) play(e *event) {
	switch e.kind() {
	case evFrame:
		w.arrived(e)
	case evEnd:
		w.notices--
		w.ended(e)
	case evArrive:
		w.subscribed(e)
	case evUnreachable:
		w.failed(e, tree.DialOutcome(e.arg))
	case evAckTimeout:
		w.failed(e, tree.DialSilent)
	case evTick:
		w.tick(e)
	case evJoin:
		w.planned--
		w.start(e.node)
	case evDiscover:
		w.rejoin(e.node)
	case evDie:
		w.planned--
		w.die(e.node, e.arg == 1)
	case evLeave:
		w.planned--
		w.leave(e.node)
	case evGone:
		w.gone(e.node)
	case evPublish:
		w.planned--
		w.publish()
	case evCut:
		w.planned--
		w.cut(e.arg == 1)
	default:
		panic(fmt.Sprintf("sim: unknown event %d", e.kind()))
	}
}
