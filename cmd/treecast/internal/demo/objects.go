package demo

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"treecast/wire/beef"
)

// objects are what is submitted, all of them different.
type objects struct {
	bytes [][]byte
	index map[[32]byte]int // by SHA-256
	size  int64            // of all
}

// markers are the beginnings that objects may have (PROTOCOL §7 Layouts).
var markers = [][]byte{{0x01, 0x00, 0xBE, 0xEF}, {0x02, 0x00, 0xBE, 0xEF}, {0x01, 0x01, 0x01, 0x01}}

// generate makes n objects of size bytes: a marker, the object's number, and
// pseudo-random bytes. The same seed makes the same objects.
func generate(n, size int, seed uint64) *objects {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	rng := rand.NewChaCha8(key)
	o := &objects{index: make(map[[32]byte]int, n)}
	for i := range n {
		b := make([]byte, size)
		at := copy(b, markers[i%len(markers)])
		binary.BigEndian.PutUint64(b[at:], uint64(i))
		rng.Read(b[at+8:])
		o.add(b)
	}
	return o
}

// load reads the files of a directory, in the order of their names. Files with
// the same bytes are one object: an ingress lets it pass once.
func load(dir string) (*objects, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("demo: objects: %w", err)
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	o := &objects{index: make(map[[32]byte]int)}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		name := filepath.Join(dir, e.Name())
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("demo: objects: %w", err)
		}
		if _, ok := beef.MarkerOf(b); !ok {
			return nil, fmt.Errorf("demo: objects: %s: starts with no marker of a BEEF object", name)
		}
		if len(b) > beef.DefaultMaxObject {
			return nil, fmt.Errorf("demo: objects: %s: %d bytes, the bound is %d", name, len(b), beef.DefaultMaxObject)
		}
		o.add(b)
	}
	if len(o.bytes) == 0 {
		return nil, fmt.Errorf("demo: objects: no files in %s", dir)
	}
	return o, nil
}

func (o *objects) add(b []byte) {
	hash := sha256.Sum256(b)
	if _, ok := o.index[hash]; ok {
		return
	}
	o.index[hash] = len(o.bytes)
	o.bytes = append(o.bytes, b)
	o.size += int64(len(b))
}
