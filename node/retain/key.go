package retain

import (
	"encoding/binary"
	"fmt"

	"treecast/wire"
)

// The keys of a store. Numbers are big endian, so that their order is the keys'.
//
//	'a' | number 8                      what was written together, in order: a receipt
//	'c' | topic 32 | owner 20 | index 8 a message
//	'm' | topic 32 | owner 20           a mark: first index that was not settled, 8;
//	                                    repeated: from 8 | to 8, still recovered below
//	'v' | topic 32 | owner 20 | from 8  a void range: its last index, 8
const (
	kindReceipt = 'a'
	kindChunk   = 'c'
	kindMark    = 'm'
	kindVoid    = 'v'
)

// feedKey names one owner's feed in one cohort.
type feedKey struct {
	topic wire.Topic
	owner wire.Owner
}

const (
	feedBytes = 32 + 20
	feedEnd   = 1 + feedBytes // where the feed ends in a key
	indexEnd  = feedEnd + 8
)

// append appends the key of a kind of a feed, to which an index may follow.
func (k *feedKey) append(dst []byte, kind byte) []byte {
	dst = append(dst, kind)
	dst = append(dst, k.topic[:]...)
	return append(dst, k.owner[:]...)
}

func (k *feedKey) at(kind byte, index uint64) []byte {
	return binary.BigEndian.AppendUint64(k.append(make([]byte, 0, indexEnd), kind), index)
}

// feedOf reads the feed out of a key of any kind but a receipt.
func feedOf(key []byte) (k feedKey) {
	copy(k.topic[:], key[1:])
	copy(k.owner[:], key[33:])
	return k
}

func indexOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[feedEnd:]) }

func receiptKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kindReceipt}, number)
}

// after is the first key that does not begin with prefix.
func after(prefix []byte) []byte {
	end := append([]byte{}, prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// A receipt lists the messages of one write, so that the oldest can be removed
// together and counted without being read.
//
//	time   8      Unix nanoseconds
//	bytes  8      of the messages, with what each costs besides
//	runs   repeated: topic 32 | owner 20 | first index 8 | count 4
type receipt struct {
	time  int64
	bytes uint64
	runs  []run
}

// run are messages of consecutive indices.
type run struct {
	feed  feedKey
	first uint64
	count uint32
}

const (
	receiptHead = 16
	runBytes    = feedBytes + 12
)

// note adds a message.
func (r *receipt) note(feed *feedKey, index uint64, size int) {
	r.bytes += uint64(size) + overhead
	if n := len(r.runs); n > 0 {
		if last := &r.runs[n-1]; last.feed == *feed && last.first+uint64(last.count) == index {
			last.count++
			return
		}
	}
	r.runs = append(r.runs, run{*feed, index, 1})
}

// has says whether a message was added.
func (r *receipt) has(feed *feedKey, index uint64) bool {
	for i := range r.runs {
		if x := &r.runs[i]; x.feed == *feed && x.first <= index && index-x.first < uint64(x.count) {
			return true
		}
	}
	return false
}

func (r *receipt) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.time))
	dst = binary.BigEndian.AppendUint64(dst, r.bytes)
	for i := range r.runs {
		x := &r.runs[i]
		dst = append(dst, x.feed.topic[:]...)
		dst = append(dst, x.feed.owner[:]...)
		dst = binary.BigEndian.AppendUint64(dst, x.first)
		dst = binary.BigEndian.AppendUint32(dst, x.count)
	}
	return dst
}

// parseReceiptHead reads what adding up needs.
func parseReceiptHead(b []byte) (r receipt, err error) {
	if len(b) < receiptHead || (len(b)-receiptHead)%runBytes != 0 {
		return r, fmt.Errorf("retain: receipt of %d bytes", len(b))
	}
	r.time = int64(binary.BigEndian.Uint64(b))
	r.bytes = binary.BigEndian.Uint64(b[8:])
	return r, nil
}

func parseReceipt(b []byte) (r receipt, err error) {
	if r, err = parseReceiptHead(b); err != nil {
		return r, err
	}
	for b = b[receiptHead:]; len(b) > 0; b = b[runBytes:] {
		var x run
		copy(x.feed.topic[:], b)
		copy(x.feed.owner[:], b[32:])
		x.first = binary.BigEndian.Uint64(b[feedBytes:])
		x.count = binary.BigEndian.Uint32(b[feedBytes+8:])
		r.runs = append(r.runs, x)
	}
	return r, nil
}
