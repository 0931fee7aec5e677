package node

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"sync"

	"treecast/wire"
)

const (
	// indexBlock is how many feed indices are reserved with one synced write
	// (PROTOCOL §7 Indices).
	indexBlock = 1024
	// maxIndex is the highest feed index (PROTOCOL §4 Feed index).
	maxIndex = math.MaxInt64
)

// indices hands out the feed indices of one owner in one cohort, each once in
// all time: the end of the block in use is on disk before one of the block is
// used, and a restart goes on behind it. What a restart leaves unused of a block
// stays unused.
//
//	end   8 @0  big endian: first index that no block covers
//	crc32 4 @8  of the eight bytes before, Castagnoli
type indices struct {
	path string // empty: kept in memory alone

	mu     sync.Mutex // also for the file
	loaded bool
	next   uint64
	end    uint64 // exclusive
}

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// indices is the counter of owner in topic, not loaded yet.
func (s *store) indices(topic wire.Topic, owner wire.Owner) *indices {
	if s.dir == "" {
		return &indices{}
	}
	return &indices{path: filepath.Join(s.dir, indexDir, topic.String()+"-"+owner.String())}
}

// load reads the file, once. first is the lowest index that may be handed out
// besides what the file says.
func (x *indices) load(first uint64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.loaded {
		return nil
	}
	end := first
	if x.path != "" {
		data, err := os.ReadFile(x.path)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			return fmt.Errorf("node: index block: %w", err)
		default:
			stored, err := parseBlock(data)
			if err != nil {
				return fmt.Errorf("node: index block %s: %w", x.path, err)
			}
			end = max(end, stored)
		}
	}
	x.next, x.end, x.loaded = end, end, true
	return nil
}

func parseBlock(data []byte) (end uint64, err error) {
	if len(data) != 12 {
		return 0, fmt.Errorf("%d bytes, want 12", len(data))
	}
	if sum := crc32.Checksum(data[:8], crcTable); sum != binary.BigEndian.Uint32(data[8:]) {
		return 0, errors.New("checksum differs")
	}
	if end = binary.BigEndian.Uint64(data); end > maxIndex+1 {
		return 0, fmt.Errorf("end %d", end)
	}
	return end, nil
}

func appendBlock(dst []byte, end uint64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, end)
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst, crcTable))
}

// reserve hands out n consecutive indices from first on. It writes to disk at
// most once a block.
func (x *indices) reserve(n int) (first uint64, err error) {
	if n < 1 {
		return 0, fmt.Errorf("node: reserve %d indices", n)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	need := x.next + uint64(n)
	if need > maxIndex+1 {
		return 0, fmt.Errorf("node: reserve %d indices after %d: the feed is full", n, x.next)
	}
	if need > x.end {
		end := min(x.end+(need-x.end+indexBlock-1)/indexBlock*indexBlock, maxIndex+1)
		if x.path != "" {
			if err := writeFile(x.path, appendBlock(nil, end)); err != nil {
				return 0, fmt.Errorf("node: index block: %w", err)
			}
		}
		x.end = end
	}
	first, x.next = x.next, need
	return first, nil
}
