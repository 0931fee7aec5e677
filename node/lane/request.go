package lane

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"treecast/wire/beef"
)

// MaxRequest is the longest election line in bytes, its newline included (PROTOCOL
// §7 Egress lanes).
const MaxRequest = 16 << 10

// Request is the election line that a consumer sends first: one line of JSON
// (PROTOCOL §7 Egress lanes).
type Request struct {
	// Topics are names or 64 hex digits; none = all.
	Topics []string `json:"topics,omitempty"`
	// Versions are beef, beefv2 and atomic; none = all.
	Versions []string `json:"versions,omitempty"`
	// Format is record, also if empty, or frame.
	Format string `json:"format,omitempty"`
	// Resume is the name to go on under. A node without retention refuses it.
	Resume string `json:"resume,omitempty"`
}

// ParseRequest parses an election line, with or without its newline. The error is
// meant for the consumer to read.
func ParseRequest(line []byte) (Request, error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return Request{}, errors.New("lane: election line: want one JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var r Request
	if err := d.Decode(&r); err != nil {
		return Request{}, fmt.Errorf("lane: election line: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Request{}, errors.New("lane: election line: more than one JSON object")
	}
	return r, nil
}

// Election returns what the request elects and the format it asks for.
func (r *Request) Election() (beef.Election, Format, error) {
	var e beef.Election
	for _, t := range r.Topics {
		id, err := ParseTopic(t)
		if err != nil {
			return e, 0, fmt.Errorf("lane: election line: %w", err)
		}
		e.Topics = append(e.Topics, id)
	}
	for _, name := range r.Versions {
		v, ok := beef.ParseVersion(name)
		if !ok {
			return e, 0, fmt.Errorf("lane: election line: version %q, want beef, beefv2 or atomic", name)
		}
		e.Versions = append(e.Versions, v)
	}
	format, err := ParseFormat(r.Format)
	if err != nil {
		return e, 0, fmt.Errorf("lane: election line: %w", err)
	}
	return e, format, nil
}

// ParseTopic returns the identifier of a topic given as 64 hex digits, or else by
// its name: 1..beef.MaxTopicName bytes of UTF-8.
func ParseTopic(s string) (beef.TopicID, error) {
	var id beef.TopicID
	if len(s) == hex.EncodedLen(len(id)) {
		if b, err := hex.DecodeString(s); err == nil {
			copy(id[:], b)
			return id, nil
		}
	}
	if s == "" || len(s) > beef.MaxTopicName || !utf8.ValidString(s) {
		return id, fmt.Errorf("topic %q, want 64 hex digits or a name of 1..%d bytes", s, beef.MaxTopicName)
	}
	return beef.TopicIDOf(s), nil
}

// Format is what a consumer gets for each object.
type Format uint8

// The formats (PROTOCOL §7 Egress lanes).
const (
	FormatRecord Format = iota // delivery records
	FormatFrame                // whole object frames
)

// ParseFormat returns the format called name; empty is FormatRecord.
func ParseFormat(name string) (Format, error) {
	switch name {
	case "", "record":
		return FormatRecord, nil
	case "frame":
		return FormatFrame, nil
	}
	return 0, fmt.Errorf("format %q, want record or frame", name)
}

// String is the format's name.
func (f Format) String() string {
	if f == FormatFrame {
		return "frame"
	}
	return "record"
}
