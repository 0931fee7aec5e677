package beef

import (
	"fmt"
	"iter"
	"math"
)

// How frames ride in chunks, sizes in bytes (PROTOCOL §7 Carriage).
const (
	// MaxChunk is what the payload of a chunk holds.
	MaxChunk = 4096
	// MaxFragmentData is how much data a fragment carries that fills a chunk.
	MaxFragmentData = MaxChunk - FragmentHeaderSize
)

// ChunkCount returns how many chunks a frame with a payload of payloadLen bytes
// takes, and so how many sequence numbers: one when it fits a chunk, else one a
// fragment. The error names a length that no number of fragments can carry.
func ChunkCount(payloadLen int) (int, error) {
	if payloadLen > 0 && payloadLen <= MaxChunk-HeaderSize {
		return 1, nil
	}
	return fragmentCount(payloadLen, MaxFragmentData)
}

// Chunks yields the chunk payloads that carry f, in the order of their sequence
// numbers: f itself when it fits a chunk, else its fragments of MaxFragmentData
// bytes. The first has f.SeqNum, each following one the next. Every payload is
// built in buf, from its start, and is overwritten by the next; a buf with a
// capacity of MaxChunk is never grown.
func Chunks(f *Frame, buf []byte) (iter.Seq[[]byte], error) {
	if len(f.Payload) > 0 && f.Size() <= MaxChunk {
		return func(yield func([]byte) bool) { yield(AppendFrame(buf[:0], f)) }, nil
	}
	fragments, err := Split(f, MaxFragmentData)
	if err != nil {
		return nil, err
	}
	return func(yield func([]byte) bool) {
		for frag := range fragments {
			if !yield(AppendFragment(buf[:0], &frag)) {
				return
			}
		}
	}, nil
}

// Split yields the fragments of f with dataSize bytes of its payload each (0 =
// MaxFragmentData), the last one with the rest; Data are views into the
// payload, which stays where it lies when AppendFragmentHeader writes what goes
// before them. The first fragment has f.SeqNum, each following one the next. The
// error names a size that is out of range, or one that makes more fragments
// than FragTotal can count.
func Split(f *Frame, dataSize int) (iter.Seq[Fragment], error) {
	if dataSize == 0 {
		dataSize = MaxFragmentData
	}
	total, err := fragmentCount(len(f.Payload), dataSize)
	if err != nil {
		return nil, err
	}
	return func(yield func(Fragment) bool) {
		frag := Fragment{Header: f.Header, OrigLen: uint32(len(f.Payload)), Total: uint16(total)}
		for i := range total {
			frag.Index = uint16(i)
			frag.SeqNum = f.SeqNum + uint64(i)
			frag.Data = f.Payload[i*dataSize : min((i+1)*dataSize, len(f.Payload))]
			if !yield(frag) {
				return
			}
		}
	}, nil
}

func fragmentCount(payloadLen, dataSize int) (int, error) {
	if payloadLen <= 0 || uint64(payloadLen) > math.MaxUint32 {
		return 0, fmt.Errorf("beef: payload of %d bytes to cut", payloadLen)
	}
	if dataSize <= 0 {
		return 0, fmt.Errorf("beef: fragment data size %d", dataSize)
	}
	total := (int64(payloadLen) + int64(dataSize) - 1) / int64(dataSize)
	if total > math.MaxUint16 { // FragTotal has two bytes
		return 0, fmt.Errorf("beef: payload of %d bytes in fragments of %d", payloadLen, dataSize)
	}
	return int(total), nil
}
