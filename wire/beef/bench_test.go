package beef_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"treecast/wire/beef"
)

// benchSizes are the objects of the benchmarks: one that fits a chunk, and one
// of 26 fragments.
var benchSizes = []int{400, 100 << 10}

var benchTopics = []string{"tm_ship", "tm_slap", "tm_meter"}

func benchEach(b *testing.B, run func(b *testing.B, rec []byte)) {
	for _, size := range benchSizes {
		rec, err := beef.AppendRecord(nil, benchTopics, object(size))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(rec)))
			b.ReportAllocs()
			run(b, rec)
		})
	}
}

// BenchmarkParseRecord is the structure of a record alone.
func BenchmarkParseRecord(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		for b.Loop() {
			if _, err := beef.ParseRecord(rec); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkParseFrame is what each hop's edge does first with a frame. Nothing is
// hashed.
func BenchmarkParseFrame(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		sub := submit(b, rec)
		frame := beef.AppendFrame(nil, &sub.Frame)
		for b.Loop() {
			if _, err := beef.ParseFrame(frame); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func newParser(tb testing.TB) *beef.Parser {
	tb.Helper()
	p, err := beef.NewParser(0)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// stampRecord is what an ingress makes of a record: judge it, hash it, stamp it,
// and write the header that goes before the payload where that lies.
func stampRecord(tb testing.TB, parser *beef.Parser, dst, rec []byte, seq uint64) (head, payload []byte) {
	sub, err := parser.Parse(rec)
	if err != nil {
		tb.Fatal(err)
	}
	f := &sub.Frame
	f.HashKey, f.SeqNum = 0x0102030405060708, seq
	sub.Allow(len(benchTopics))
	return beef.AppendHeader(dst, f), f.Payload
}

// BenchmarkRecordToFrame is a record on its way to a stamped frame, header and
// payload apart. It has beside its time what it costs in hashes of the payload.
func BenchmarkRecordToFrame(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		parser := newParser(b)
		dst := make([]byte, 0, beef.HeaderSize)
		seq := uint64(0)
		run := func() {
			seq++
			dst, _ = stampRecord(b, parser, dst[:0], rec, seq)
		}
		for b.Loop() {
			run()
		}
		reportRatio(b, "hashes/op", run, func() { _ = beef.ContentID(rec) })
	})
}

// BenchmarkRecordToWholeFrame is the same with the payload copied behind the
// header.
func BenchmarkRecordToWholeFrame(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		parser := newParser(b)
		var dst []byte
		run := func() {
			head, payload := stampRecord(b, parser, dst[:0], rec, 1)
			dst = append(head, payload...)
		}
		for b.Loop() {
			run()
		}
		reportRatio(b, "hashes/op", run, func() { _ = beef.ContentID(rec) })
	})
}

// BenchmarkScan is the same from a stream, without building the frame.
func BenchmarkScan(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		s, err := beef.NewScanner(beef.ScannerConfig{})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			for rest := rec; len(rest) > 0; {
				rest = rest[s.Feed(rest):]
				if _, err := s.Next(); err != nil && err != beef.ErrShort {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkFrameToDelivery is what an edge does with a frame: parse, match
// against a thousand elections, make the record's header.
func BenchmarkFrameToDelivery(b *testing.B) {
	var elections beef.Elections
	for i := range 1000 {
		elections.Set(beef.ConsumerID(i), beef.Election{Topics: []beef.TopicID{beef.TopicIDOf(fmt.Sprint("other", i))}})
	}
	elections.Set(1000, beef.Election{Topics: []beef.TopicID{beef.TopicIDOf("tm_slap")}})
	benchEach(b, func(b *testing.B, rec []byte) {
		sub := submit(b, rec)
		sub.Allow(2)
		frame := beef.AppendFrame(nil, &sub.Frame)
		var dst []byte
		var matches []beef.Match
		for b.Loop() {
			f, err := beef.ParseFrame(frame)
			if err != nil {
				b.Fatal(err)
			}
			offer, err := beef.OfferOf(&f)
			if err != nil {
				b.Fatal(err)
			}
			matches = elections.Match(&offer, matches[:0])
			for _, m := range matches {
				dst = beef.AppendDeliveryHeader(dst[:0], &beef.Delivery{TopicID: m.Topic, Payload: f.Payload})
			}
			if len(matches) != 1 {
				b.Fatal("no match")
			}
		}
	})
}

// BenchmarkChunks is what an ingress does with a frame: the payloads of its
// chunks.
func BenchmarkChunks(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		sub := submit(b, rec)
		buf := make([]byte, 0, beef.MaxChunk)
		for b.Loop() {
			chunks, err := beef.Chunks(&sub.Frame, buf)
			if err != nil {
				b.Fatal(err)
			}
			for range chunks {
			}
		}
	})
}

// BenchmarkReassemble is what an edge does with fragments: parse, collect, hash once,
// and take the memory back. Each object is for a topic of its own, for else it would
// be the same one.
func BenchmarkReassemble(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		sub := submit(b, rec)
		cut := split(b, &sub.Frame, 0)
		r, err := beef.NewReassembler(beef.ReassemblerConfig{})
		if err != nil {
			b.Fatal(err)
		}
		objects := uint64(0)
		run := func() {
			objects++
			var frame beef.Frame
			for _, c := range cut {
				frag, err := beef.ParseFragment(c)
				if err != nil {
					b.Fatal(err)
				}
				binary.BigEndian.PutUint64(frag.TopicID[:], objects)
				frame, _ = r.Add(start, &frag)
			}
			if len(frame.Payload) != len(rec) {
				b.Fatal("not whole")
			}
			r.Recycle(frame.Payload)
		}
		for b.Loop() {
			run()
		}
		reportRatio(b, "hashes/op", run, func() { _ = beef.ContentID(rec) })
	})
}

// BenchmarkContentID is the part of the above that is SHA-256.
func BenchmarkContentID(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		for b.Loop() {
			_ = beef.ContentID(rec)
		}
	})
}
