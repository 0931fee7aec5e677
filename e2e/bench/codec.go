package main

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"treecast/wire/beef"
	"treecast/wire/soc"
)

// topics are the names of the records of the codec rows.
var topics = []string{"tm_ship", "tm_slap", "tm_bench"}

// micros are the codec rows and those of the chunk check.
func micros() ([]micro, error) {
	var list []micro
	for _, size := range []struct {
		name  string
		bytes int
	}{{"400B", 400}, {"100KiB", 100 << 10}} {
		c, err := newCodec(size.bytes)
		if err != nil {
			return nil, err
		}
		hash := func(b *testing.B) {
			for b.Loop() {
				beef.ContentID(c.record)
			}
		}
		add := func(name string, work func(b *testing.B)) {
			list = append(list, micro{name: fmt.Sprintf("codec-%s-%s", name, size.name), work: work, opponent: "sha256d", beside: hash})
		}
		add("record-parse", c.recordParse)
		add("record-to-frame", c.recordToFrame)
		add("frame-decode", c.frameDecode)
		add("frame-to-delivery", c.frameToDelivery)
		if len(c.fragments) > 1 {
			add("fragment", c.fragment)
			add("reassemble", c.reassemble)
		}
	}
	for _, size := range []int{32, 64, 512, 4096} {
		m, err := checkMicro(size)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// codec is one object in all its forms. Its methods are what doors and edges do.
type codec struct {
	record    []byte
	sub       beef.Submission
	frame     []byte
	fragments [][]byte
	elections beef.Elections
}

func newCodec(size int) (*codec, error) {
	object := arbitrary(size)
	copy(object, []byte{0x01, 0x00, 0xbe, 0xef})
	c := &codec{}
	var err error
	if c.record, err = beef.AppendRecord(nil, topics, object); err != nil {
		return nil, err
	}
	if c.sub, err = beef.ParseSubmission(c.record, 0); err != nil {
		return nil, err
	}
	c.stamp(&c.sub)
	c.frame = beef.AppendFrame(nil, &c.sub.Frame)
	parts, err := beef.Chunks(&c.sub.Frame, make([]byte, 0, beef.MaxChunk))
	if err != nil {
		return nil, err
	}
	for p := range parts {
		c.fragments = append(c.fragments, append([]byte(nil), p...))
	}
	for i := range 1000 {
		c.elections.Set(beef.ConsumerID(i), beef.Election{Topics: []beef.TopicID{beef.TopicIDOf(fmt.Sprint("other", i))}})
	}
	c.elections.Set(1000, beef.Election{Topics: []beef.TopicID{beef.TopicIDOf(topics[2])}})
	return c, nil
}

// stamp is what an ingress writes into a frame.
func (c *codec) stamp(s *beef.Submission) {
	s.Allow(len(topics))
	s.Frame.HashKey, s.Frame.SeqNum = 0x0102030405060708, 77
}

func (c *codec) recordParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := beef.ParseRecord(c.record); err != nil {
			b.Fatal(err)
		}
	}
}

// recordToFrame is a door's work: judge, hash once, stamp, write the frame. Like a
// door it takes one record after the other for the same topics.
func (c *codec) recordToFrame(b *testing.B) {
	b.ReportAllocs()
	parser, err := beef.NewParser(0)
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	for b.Loop() {
		sub, err := parser.Parse(c.record)
		if err != nil {
			b.Fatal(err)
		}
		c.stamp(&sub)
		dst = beef.AppendFrame(dst[:0], &sub.Frame)
	}
}

func (c *codec) frameDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := beef.ParseFrame(c.frame); err != nil {
			b.Fatal(err)
		}
	}
}

// frameToDelivery is an edge's work: decode, match against a thousand elections,
// write the header that precedes the payload.
func (c *codec) frameToDelivery(b *testing.B) {
	b.ReportAllocs()
	var head []byte
	var matches []beef.Match
	for b.Loop() {
		f, err := beef.ParseFrame(c.frame)
		if err != nil {
			b.Fatal(err)
		}
		offer, err := beef.OfferOf(&f)
		if err != nil {
			b.Fatal(err)
		}
		matches = c.elections.Match(&offer, matches[:0])
		if len(matches) != 1 {
			b.Fatalf("%d matches", len(matches))
		}
		head = beef.AppendDeliveryHeader(head[:0], &beef.Delivery{TopicID: matches[0].Topic, Payload: f.Payload})
	}
}

// fragment cuts a frame and writes the fragments' headers; the data stay where
// they are.
func (c *codec) fragment(b *testing.B) {
	b.ReportAllocs()
	var head []byte
	for b.Loop() {
		parts, err := beef.Split(&c.sub.Frame, 0)
		if err != nil {
			b.Fatal(err)
		}
		for f := range parts {
			head = beef.AppendFragmentHeader(head[:0], &f)
		}
	}
}

// reassemble is an edge's work on the fragments of one object: decode, collect, hash
// once, and take the memory back when the object is delivered. Each object is for a
// topic of its own, for else it would be the same one.
func (c *codec) reassemble(b *testing.B) {
	b.ReportAllocs()
	r, err := beef.NewReassembler(beef.ReassemblerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	now, objects := time.Unix(1, 0), uint64(0)
	for b.Loop() {
		objects++
		var frame beef.Frame
		for _, p := range c.fragments {
			f, err := beef.ParseFragment(p)
			if err != nil {
				b.Fatal(err)
			}
			binary.BigEndian.PutUint64(f.TopicID[:], objects)
			frame, _ = r.Add(now, &f)
		}
		if len(frame.Payload) != len(c.record) {
			b.Fatal("not whole")
		}
		r.Recycle(frame.Payload)
	}
}

// checkMicro is the check of a chunk beside one recovery of a key.
func checkMicro(size int) (micro, error) {
	key, err := soc.NewKey()
	if err != nil {
		return micro{}, err
	}
	payload, id, span := arbitrary(size), soc.Hash{1}, soc.Span(size)
	sig, err := key.Sign(&id, span[:], payload)
	if err != nil {
		return micro{}, err
	}
	owner := key.Owner()
	chunk := soc.Chunk{ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: payload}
	recover := sig
	recover[64] -= 27
	digest := soc.Keccak256([]byte("any digest"))
	return micro{
		name: fmt.Sprintf("check-%dB", size),
		work: func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := soc.Verify(&chunk); err != nil {
					b.Fatal(err)
				}
			}
		},
		opponent: "recover",
		beside: func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				recoverKey(b, &digest, &recover)
			}
		},
	}, nil
}
