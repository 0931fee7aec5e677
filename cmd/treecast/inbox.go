package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"treecast/wire/beef"
)

// received is one delivery record as `treecast receive --json` prints it.
type received struct {
	TopicID     string   `json:"topic_id"` // the elected topic that matched
	Topics      []string `json:"topics"`   // the record's names; none for a bare object
	Version     string   `json:"version"`
	SHA256      string   `json:"sha256"` // of the object
	ObjectBytes int      `json:"object_bytes"`
	Bytes       int      `json:"bytes"` // of the payload
	Duplicate   bool     `json:"duplicate,omitempty"`
	File        string   `json:"file,omitempty"`
}

// receivedSummary is the last line of `treecast receive --json`.
type receivedSummary struct {
	Summary    bool    `json:"summary"` // true: tells it from a record
	Records    int     `json:"records"`
	Objects    int     `json:"objects"` // distinct ones
	Duplicates int     `json:"duplicates"`
	Refused    int     `json:"refused"`
	Bytes      int64   `json:"bytes"` // of all objects
	ElapsedS   float64 `json:"elapsed_s"`
}

// inbox counts, prints and keeps what a consumer receives.
type inbox struct {
	receivedSummary
	out    string          // directory, or empty
	print  func(any) error // one line
	enough func()          // called after each object
	seen   seenSet
	start  time.Time
}

func newInbox(out string) *inbox {
	return &inbox{out: out, start: time.Now(), seen: newSeenSet(seenObjects)}
}

// seenObjects bounds how many objects are remembered to tell duplicates.
const seenObjects = 1 << 20

// take takes one delivery record; an error says that no more can be taken.
func (in *inbox) take(d beef.Delivery) error {
	p, err := beef.ParsePayload(d.Payload)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(p.Object)
	line := received{
		TopicID:     d.TopicID.String(),
		Topics:      []string{},
		Version:     p.Version.String(),
		SHA256:      hex.EncodeToString(hash[:]),
		ObjectBytes: len(p.Object),
		Bytes:       len(d.Payload),
	}
	if p.IsRecord() {
		for name := range p.Record.Topics() {
			line.Topics = append(line.Topics, string(name))
		}
	}
	in.Records++
	in.Bytes += int64(len(p.Object))
	if line.Duplicate = !in.seen.add(hash); line.Duplicate {
		in.Duplicates++
	} else {
		in.Objects++
		if in.out != "" {
			line.File = filepath.Join(in.out, line.SHA256)
			if err := writeWhole(line.File, p.Object); err != nil {
				return err
			}
		}
	}
	if err := in.print(line); err != nil {
		return err
	}
	in.enough()
	return nil
}

func (in *inbox) summary() receivedSummary {
	s := in.receivedSummary
	s.Summary = true
	s.ElapsedS = time.Since(in.start).Seconds()
	return s
}

// writeWhole makes the file appear under its name only with all of its bytes.
func writeWhole(name string, b []byte) error {
	part := name + ".part"
	if err := os.WriteFile(part, b, 0o644); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if err := os.Rename(part, name); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// seenSet remembers the newest hashes, up to a bound.
type seenSet struct {
	bound int
	has   map[[32]byte]struct{}
	ring  [][32]byte // in order of arrival
	next  int        // the oldest once the ring is full
}

func newSeenSet(bound int) seenSet {
	return seenSet{bound: bound, has: make(map[[32]byte]struct{})}
}

// add returns false if h is remembered already.
func (s *seenSet) add(h [32]byte) bool {
	if _, ok := s.has[h]; ok {
		return false
	}
	s.has[h] = struct{}{}
	if len(s.ring) < s.bound {
		s.ring = append(s.ring, h)
		return true
	}
	delete(s.has, s.ring[s.next])
	s.ring[s.next] = h
	s.next = (s.next + 1) % len(s.ring)
	return true
}
