package tree_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"treecast/tree"
	"treecast/wire"
)

// The functions of this file read the lines of transcripts. Messages go through
// their encoding, as they would from a peer.

func node(name string) (o wire.Overlay) {
	copy(o[:], name)
	return o
}

func owner(name string) (o wire.Owner) {
	copy(o[:], name)
	return o
}

// args are the words of a line: those with a "=" by their key, the rest in order.
type args struct {
	list []string
	by   map[string]string
}

func parseArgs(words []string) args {
	a := args{by: map[string]string{}}
	for _, w := range words {
		if k, v, ok := strings.Cut(w, "="); ok {
			a.by[k] = v
		} else {
			a.list = append(a.list, w)
		}
	}
	return a
}

func (a *args) has(word string) bool {
	for _, w := range a.list {
		if w == word {
			return true
		}
	}
	return false
}

// at is word i, empty if there are not as many.
func (a *args) at(i int) string {
	if i < len(a.list) {
		return a.list[i]
	}
	return ""
}

func (a *args) num(key string) int {
	n, _ := strconv.Atoi(a.by[key])
	return n
}

func (a *args) duration(key string) time.Duration {
	d, _ := time.ParseDuration(a.by[key])
	return d
}

func (a *args) names(key string) (list []string) {
	if a.by[key] != "" {
		list = strings.Split(a.by[key], ",")
	}
	return list
}

// id reads "s4", "d2", "c7" and the like.
func id[T ~uint64](word string) T {
	if word == "" {
		return 0
	}
	n, err := strconv.ParseUint(word[1:], 10, 64)
	if err != nil {
		panic("transcript: id " + word)
	}
	return T(n)
}

// event reads one event.
func (s *script) event(words []string) (tree.Event, error) {
	a := parseArgs(words)
	stream := id[tree.StreamID]
	switch words[0] {
	case "join":
		var j tree.Join
		for _, name := range a.list[1:] {
			j.Entries = append(j.Entries, node(name))
		}
		return j, nil
	case "subscribe":
		return s.subscribe(stream(a.at(1)), &a)
	case "dialled":
		return s.dialled(&a)
	case "frame":
		return s.frame(stream(a.at(1)), &a)
	case "ended":
		cause, ok := map[string]tree.EndCause{
			"reset": tree.CauseReset, "closed": tree.CauseClosed, "slow": tree.CauseSlow, "bad": tree.CauseBad, "mute": tree.CauseMute,
		}[a.at(2)]
		if !ok {
			return nil, fmt.Errorf("cause %q", a.at(2))
		}
		s.ended[stream(a.at(1))] = true
		return tree.StreamEnded{Stream: stream(a.at(1)), Cause: cause}, nil
	case "verified":
		chunk := id[tree.ChunkID](a.at(1))
		verdict, ok := map[string]tree.Verdict{
			"valid": tree.VerdictValid, "forged": tree.VerdictForged, "noncanonical": tree.VerdictNonCanonical,
		}[a.at(2)]
		if !ok {
			return nil, fmt.Errorf("verdict %q", a.at(2))
		}
		if len(s.checks) == 0 || s.checks[0] != chunk {
			return nil, fmt.Errorf("chunk %d is not the next to be verified of %v", chunk, s.checks)
		}
		s.checks = s.checks[1:]
		return &tree.Verified{Chunk: chunk, Verdict: verdict, CAC: s.open[chunk]}, nil
	case "publish":
		chunk, request := id[tree.ChunkID](a.at(2)), id[tree.RequestID](a.at(1))
		b, err := s.chunk(chunk, a.at(3), &a)
		if err != nil {
			return nil, err
		}
		s.waiting[request] = true
		return &tree.Publish{Request: request, Chunk: chunk, Soc: &b.Soc}, nil
	case "rtt":
		d, err := time.ParseDuration(a.at(2))
		return tree.RTT{Stream: stream(a.at(1)), RTT: d}, err
	case "queue":
		for level, name := range levels {
			if name == a.at(2) {
				return tree.Queue{Stream: stream(a.at(1)), Level: level}, nil
			}
		}
		return nil, fmt.Errorf("level %q", a.at(2))
	case "silence":
		return tree.Silence{}, nil
	case "leave":
		return tree.Leave{}, nil
	case "budget":
		return tree.Budget{Spent: a.at(1) == "spent"}, nil
	case "underlays":
		var u tree.Underlays
		for _, name := range a.list[1:] {
			u.Addrs = append(u.Addrs, []byte(name))
		}
		return u, nil
	}
	return nil, fmt.Errorf("event %q", words[0])
}

func (s *script) subscribe(stream tree.StreamID, a *args) (tree.Event, error) {
	sub := wire.Subscribe{Topic: s.topic, Version: 1, HasBand: true, Band: uint32(a.num("band"))}
	if a.has("foreign") {
		sub.Version, sub.HasBand = 0, false
	} else {
		sub.Relays, sub.Childless, sub.Named = a.has("relays"), a.has("childless"), a.has("named")
		sub.Displace = a.has("displace")
		sub.Round = uint32(a.num("round"))
	}
	if name := a.by["auth"]; name != "" {
		sub.Auth = &wire.Auth{Owner: owner(name)}
	}
	first, err := wire.ParseFirst(sub.Append(nil))
	if err != nil {
		return nil, err
	}
	return &tree.SubscribeIn{Stream: stream, Peer: node(a.by["peer"]), Msg: first.Subscribe, Proved: a.has("proved")}, nil
}

func (s *script) dialled(a *args) (tree.Event, error) {
	ev := &tree.Dialled{Dial: id[tree.DialID](a.at(1)), Self: a.has("self")}
	if _, ok := s.dials[ev.Dial]; !ok {
		return nil, fmt.Errorf("dial %d is not out", ev.Dial)
	}
	delete(s.dials, ev.Dial)
	ack := wire.Ack{HasBand: !a.has("foreign"), Band: uint32(a.num("band"))}
	switch a.at(2) {
	case "unreachable":
		ev.Outcome = tree.DialUnreachable
		return ev, nil
	case "silent":
		ev.Outcome = tree.DialSilent
		return ev, nil
	case "broken":
		ev.Outcome = tree.DialBroken
		return ev, nil
	case "ok":
		ack.Status, ack.Spec, ev.Stream = wire.StatusOK, s.spec, id[tree.StreamID](a.by["stream"])
		if a.by["spec"] != "" { // another one
			other := s.spec.Clone()
			switch a.by["spec"] {
			case "history":
				other.History = true
			case "invalid":
				other.Admin = nil
			case "topic":
				other.Topic[0] ^= 1
			}
			ack.Spec = other
		}
	case "full":
		ack.Status = wire.StatusFull
		for _, w := range a.list[3:] {
			if w != "foreign" {
				ack.Candidates = append(ack.Candidates, candidate(w))
			}
		}
	case "unknown":
		ack.Status = wire.StatusUnknownTopic
	case "rejected":
		ack.Status = wire.StatusRejected
	default:
		return nil, fmt.Errorf("outcome %q", a.at(2))
	}
	for _, h := range a.names("heads") {
		name, index, _ := strings.Cut(h, "/")
		n, _ := strconv.ParseUint(index, 10, 64)
		ack.Heads = append(ack.Heads, wire.Head{Owner: owner(name), Index: n})
	}
	got, err := wire.ParseAck(ack.Append(nil))
	if err != nil {
		return nil, err
	}
	ev.Ack = &got
	s.spoil = func() { clear(got.Candidates); got = wire.Ack{} }
	return ev, nil
}

// candidate reads "B:2:3!@x": name, depth, band if it has one, whether it
// displaces, underlay if any.
func candidate(word string) wire.Candidate {
	var c wire.Candidate
	word, at, hinted := strings.Cut(word, "@")
	word, c.Displaces = strings.CutSuffix(word, "!")
	if hinted {
		c.Underlays = [][]byte{[]byte(at)}
	}
	parts := strings.Split(word, ":")
	c.Addr = node(parts[0])
	if len(parts) > 1 {
		n, _ := strconv.Atoi(parts[1])
		c.Depth = uint32(n)
	}
	if len(parts) > 2 {
		n, _ := strconv.Atoi(parts[2])
		c.HasBand, c.Band = true, uint32(n)
	}
	return c
}

func (s *script) frame(stream tree.StreamID, a *args) (tree.Event, error) {
	var body []byte
	switch a.at(2) {
	case "soc":
		chunk := id[tree.ChunkID](a.at(3))
		b, err := s.chunk(chunk, a.at(4), a)
		return &tree.Frame{Stream: stream, Msg: b, Chunk: chunk}, err
	case "probe":
		body = wire.AppendProbe(nil, &wire.Probe{
			Depth: uint32(a.num("depth")), ID: uint64(a.num("id")), Budget: uint32(a.num("budget")), Hops: uint32(a.num("hops")),
			Up: a.has("up"), DeadlineMS: uint32(a.duration("wait") / time.Millisecond), BoundBand: uint32(a.num("bound")),
			HasAsker: a.by["asker"] != "", Asker: node(a.by["asker"]), Childless: a.has("childless"),
		})
	case "found":
		f := wire.Found{ID: uint64(a.num("id"))}
		for _, w := range a.list[3:] {
			f.Candidates = append(f.Candidates, candidate(w))
		}
		body = wire.AppendFound(nil, &f)
	case "reparent":
		r := wire.Reparent{}
		if name := a.by["to"]; name != "" {
			to := node(name)
			r.To = to[:]
		}
		for reason, name := range reasons {
			if name != "" && a.has(name) {
				r.Reason = uint32(reason)
			}
		}
		body = wire.AppendReparent(nil, &r)
	case "standby":
		body = wire.AppendStandby(nil, wire.Standby{WaitMS: uint32(a.duration("wait") / time.Millisecond)})
	case "none":
		body = protowire.AppendTag(nil, 9, protowire.BytesType)
		body = protowire.AppendBytes(body, []byte("later"))
	default:
		return nil, fmt.Errorf("frame %q", a.at(2))
	}
	b := new(wire.Broadcast)
	if err := b.Parse(body); err != nil {
		return nil, err
	}
	s.spoil = func() { clear(body); clear(b.Found.Candidates); *b = wire.Broadcast{} }
	return &tree.Frame{Stream: stream, Msg: b}, nil
}
