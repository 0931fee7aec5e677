package beef_test

import (
	"fmt"
	"testing"

	"treecast/wire/beef"
)

// benchSizes are the objects of the benchmarks: one that fits a chunk, and one
// of 26 fragments.
var benchSizes = []int{400, 100 << 10}

func benchEach(b *testing.B, run func(b *testing.B, rec []byte)) {
	for _, size := range benchSizes {
		rec, err := beef.AppendRecord(nil, []string{"tm_ship", "tm_slap"}, object(size))
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

// BenchmarkRecordToFrame is what a door does with a record: judge, hash, frame.
func BenchmarkRecordToFrame(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		var dst []byte
		for b.Loop() {
			sub, err := beef.ParseSubmission(rec, 0)
			if err != nil {
				b.Fatal(err)
			}
			dst = beef.AppendFrame(dst[:0], &sub.Frame)
		}
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

// BenchmarkReassemble is what an edge does with fragments: parse, collect, hash
// once.
func BenchmarkReassemble(b *testing.B) {
	benchEach(b, func(b *testing.B, rec []byte) {
		sub := submit(b, rec)
		cut := split(b, &sub.Frame, 0)
		for b.Loop() {
			r, err := beef.NewReassembler(beef.ReassemblerConfig{})
			if err != nil {
				b.Fatal(err)
			}
			done := false
			for _, c := range cut {
				frag, err := beef.ParseFragment(c)
				if err != nil {
					b.Fatal(err)
				}
				_, o := r.Add(start, &frag)
				done = o == beef.OutcomeComplete
			}
			if !done {
				b.Fatal("not whole")
			}
		}
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
