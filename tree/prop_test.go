package tree_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"treecast/tree"
	"treecast/wire"
)

// random writes transcripts by chance, as a driver with any peers might cause
// them, and keeps the books that need more than one line. A failure prints the
// lines, which can be run as a transcript.
type random struct {
	t         *rapid.T
	s         *script
	lines     []string
	streams   []tree.StreamID // open
	next      int             // stream, chunk and request
	waiting   map[tree.StreamID]bool
	names     map[tree.ChunkID]string // "owner/index" of chunks
	delivered map[string]bool
}

func TestRandomEvents(t *testing.T) {
	configs := []string{
		"broker capacity=4 rate=20 joins=3", "broker capacity=3 owners=1 closed", "capacity=4", "capacity=3 publishing=3",
		"capacity=4 parents=1", "leaf", "capacity=4 brokers=E pinned", "capacity=4 regime=all", "broker capacity=5 binding=anchor regime=list",
	}
	rapid.Check(t, func(t *rapid.T) {
		r := &random{t: t, waiting: map[tree.StreamID]bool{}, names: map[tree.ChunkID]string{}, delivered: map[string]bool{}}
		r.config(rapid.SampledFrom(configs).Draw(t, "config"))
		t.Repeat(map[string]func(*rapid.T){
			"join": r.join, "subscribe": r.subscribe, "dialled": r.dialled, "soc": r.soc, "probe": r.probe, "found": r.found,
			"ended": r.ended, "verified": r.verified, "publish": r.publish, "queue": r.queue, "rtt": r.rtt, "tick": r.tick,
			"reparent": r.reparent, "other": r.other,
		})
		r.settle()
	})
}

func (r *random) config(line string) {
	var err error
	if r.s, err = newScript(&strings.Builder{}, strings.Fields(line)); err != nil {
		r.t.Fatal(err)
	}
	r.lines = []string{"config " + line}
}

// run runs one line and checks what the core did.
func (r *random) run(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.lines = append(r.lines, "> "+line)
	r.s.out = r.s.out[:0]
	if err := r.s.run(strings.Fields(line)); err != nil {
		r.t.Fatalf("%v\n%s", err, strings.Join(r.lines, "\n"))
	}
	for i := range r.s.out {
		a := &r.s.out[i]
		switch a.Kind {
		case tree.ActSend:
			if _, err := wire.ParseAck(a.Body); (err == nil) != r.waiting[a.Stream] {
				r.fail("stream %d: %s", a.Stream, printAction(a))
			}
			delete(r.waiting, a.Stream)
		case tree.ActForward:
			if r.waiting[a.Stream] {
				r.fail("stream %d has a chunk before its Ack", a.Stream)
			}
		case tree.ActEnd:
			if r.waiting[a.Stream] {
				r.fail("stream %d ends without an Ack", a.Stream)
			}
			r.gone(a.Stream)
		case tree.ActDeliver:
			if name := r.names[a.Chunk]; r.delivered[name] {
				r.fail("chunk %s was delivered twice", name)
			} else {
				r.delivered[name] = true
			}
		}
		if a.Stream != 0 && a.Kind != tree.ActEnd && !slices.Contains(r.streams, a.Stream) {
			r.fail("stream %d is not open: %s", a.Stream, printAction(a))
		}
	}
}

func (r *random) fail(format string, args ...any) {
	r.t.Helper()
	r.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(r.lines, "\n"))
}

func (r *random) gone(stream tree.StreamID) {
	r.streams = slices.DeleteFunc(r.streams, func(s tree.StreamID) bool { return s == stream })
	delete(r.waiting, stream)
}

func (r *random) id() int {
	r.next++
	return r.next
}

func (r *random) pick(what string, from ...string) string {
	return rapid.SampledFrom(from).Draw(r.t, what)
}

func (r *random) maybe(word string) string { return r.pick(word, "", word) }

func (r *random) peer() string { return r.pick("peer", "A", "B", "C", "D", "E", "F", "Z") }

func (r *random) number(what string, most int) int { return rapid.IntRange(0, most).Draw(r.t, what) }

// stream is one that is open, or now and then one that is not.
func (r *random) stream() tree.StreamID {
	if len(r.streams) == 0 || r.number("unknown", 19) == 0 {
		return 9999
	}
	return rapid.SampledFrom(r.streams).Draw(r.t, "stream")
}

func (r *random) join(*rapid.T) {
	r.run("join %s", r.pick("entries", "E", "E F", "N A B", ""))
}

func (r *random) subscribe(*rapid.T) {
	stream := tree.StreamID(r.id())
	r.streams = append(r.streams, stream)
	r.waiting[stream] = true
	r.run("subscribe s%d peer=%s band=%d %s %s %s %s %s %s", stream, r.peer(), r.number("band", 5), r.maybe("relays"),
		r.maybe("childless"), r.maybe("displace"), r.pick("named", "", "", "named"), r.pick("foreign", "", "", "foreign"), r.pick("auth", "", "", "auth=o1", "auth=o9"))
}

func (r *random) dialled(*rapid.T) {
	dials := slices.Sorted(maps.Keys(r.s.dials))
	if len(dials) == 0 {
		return
	}
	dial := rapid.SampledFrom(dials).Draw(r.t, "dial")
	switch outcome := r.pick("outcome", "ok", "ok", "ok", "full", "unreachable", "silent", "broken", "rejected"); outcome {
	case "ok":
		stream := tree.StreamID(r.id())
		r.streams = append(r.streams, stream)
		r.run("dialled d%d ok stream=s%d band=%d %s %s %s", dial, stream, r.number("band", 5), r.pick("foreign", "", "", "", "foreign"),
			r.pick("heads", "", "heads=o1/7,o2/3"), r.pick("spec", "", "", "", "", "spec=history"))
	case "full":
		r.run("dialled d%d full band=%d %s", dial, r.number("band", 5), r.candidates())
	default:
		r.run("dialled d%d %s %s", dial, outcome, r.pick("self", "", "", "self"))
	}
}

func (r *random) candidates() string {
	var list []string
	for range r.number("candidates", 2) {
		c := fmt.Sprintf("%s:%d", r.peer(), r.number("depth", 4))
		if r.number("ranked", 3) > 0 {
			c += fmt.Sprintf(":%d%s", r.number("band", 5), r.pick("displaces", "", "", "!"))
		}
		list = append(list, c)
	}
	return strings.Join(list, " ")
}

// chunk names a new chunk, from few enough that copies and equivocations are common.
func (r *random) chunk() (tree.ChunkID, string) {
	chunk := tree.ChunkID(r.id())
	name := fmt.Sprintf("%s/%d", r.pick("owner", "o1", "o2", "o0", "o9"), r.number("index", 12))
	r.names[chunk] = name
	line := name
	if r.s.binding == wire.BindingFeedTopic {
		line += " " + r.pick("form", "", "", "form=bare", "form=slot", "form=short", "hint=3")
	}
	if r.s.binding == wire.BindingAnchor {
		r.names[chunk] = name + r.pick("data", "", "", "-x") // told apart by content
		return chunk, line + " data=" + r.names[chunk]
	}
	return chunk, line + r.pick("data", "", "", " data=x") + r.pick("sig", "", "", " sig=y") + r.pick("cut", "", "", "", " cut=sig", " unknown=300")
}

func (r *random) soc(*rapid.T) {
	stream := r.stream()
	if r.waiting[stream] {
		return
	}
	chunk, line := r.chunk()
	r.run("frame s%d soc c%d %s", stream, chunk, line)
}

func (r *random) publish(*rapid.T) {
	chunk, line := r.chunk()
	r.run("publish r%d c%d %s", r.id(), chunk, line)
}

func (r *random) verified(*rapid.T) {
	if len(r.s.checks) > 0 {
		r.run("verified c%d %s", r.s.checks[0], r.pick("verdict", "valid", "valid", "valid", "forged", "noncanonical"))
	}
}

func (r *random) probe(*rapid.T) {
	stream := r.stream()
	if r.waiting[stream] {
		return
	}
	if r.number("plain", 4) == 0 {
		r.run("frame s%d probe depth=%d", stream, r.number("depth", 5))
		return
	}
	r.run("frame s%d probe id=%d budget=%d hops=%d %s wait=%dms asker=%s bound=%d %s", stream, r.id(), r.number("budget", 65),
		r.number("hops", 9), r.maybe("up"), r.number("wait", 4001), r.peer(), r.number("bound", 6), r.maybe("childless"))
}

func (r *random) found(*rapid.T) {
	if stream := r.stream(); !r.waiting[stream] {
		r.run("frame s%d found id=%d %s", stream, r.number("id", 12), r.candidates())
	}
}

func (r *random) reparent(*rapid.T) {
	if stream := r.stream(); !r.waiting[stream] {
		r.run("frame s%d reparent %s %s", stream, r.pick("to", "", "to=A", "to=C", "to=N"), r.pick("reason", "", "displaced", "leaving"))
	}
}

func (r *random) ended(*rapid.T) {
	if stream := r.stream(); stream != 9999 {
		r.gone(stream)
		r.run("ended s%d %s", stream, r.pick("cause", "reset", "closed", "slow", "bad"))
	}
}

func (r *random) queue(*rapid.T) {
	r.run("queue s%d %s", r.stream(), r.pick("level", "low", "high", "overflow"))
}

func (r *random) rtt(*rapid.T) { r.run("rtt s%d %dms", r.stream(), r.number("rtt", 300)) }

func (r *random) tick(*rapid.T) {
	if !r.s.core.Deadline().IsZero() && r.number("to the deadline", 1) == 0 {
		r.run("tick deadline")
		return
	}
	r.run("tick %dms", r.number("ms", 3000))
}

func (r *random) other(*rapid.T) {
	r.run("%s", r.pick("event", "budget spent", "budget free", "underlays x y", "view", "counters"))
}

// settle lets verdicts and time come: then every request has its receipt, every
// Subscribe its Ack, and no chunk is held.
func (r *random) settle() {
	if r.number("leaves", 2) == 0 {
		r.run("leave")
	}
	for range 8 {
		for len(r.s.checks) > 0 {
			r.run("verified c%d valid", r.s.checks[0])
		}
		r.run("tick 5s")
	}
	if len(r.s.waiting)+len(r.s.open)+len(r.waiting) > 0 {
		r.fail("left over: requests %v, chunks %v, Subscribes %v", r.s.waiting, slices.Sorted(maps.Keys(r.s.open)), r.waiting)
	}
}
