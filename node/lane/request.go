package lane

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"treecast/wire/beef"
)

// MaxRequest is the longest election line in bytes, its newline included (PROTOCOL
// §7 Egress lanes).
const MaxRequest = 16 << 10

// Request is what a consumer asks for: one line of JSON that it sends first, or the
// query of its HTTP request (PROTOCOL §7 Egress lanes).
type Request struct {
	// Topics are names or 64 hex digits; none = all.
	Topics []string `json:"topics,omitempty"`
	// Versions are beef, beefv2 and atomic; none = all.
	Versions []string `json:"versions,omitempty"`
	// Format is record, also if empty, or frame.
	Format string `json:"format,omitempty"`
	// Resume is the name to go on under: 1..64 letters, digits, dots, dashes and
	// underscores. A node without retention refuses it.
	Resume string `json:"resume,omitempty"`
	// Ack says that the consumer acknowledges, which goes with Resume: its position is
	// then what it has acknowledged, and not what was written to it. It sends, as often
	// as it likes, how many records of this connection it has taken so far: in decimal,
	// as a line over TCP, as a message of its own over a WebSocket.
	Ack bool `json:"ack,omitempty"`
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

// parseQuery reads the query of GET /deliver. The error is meant for the consumer
// to read.
func parseQuery(q url.Values) (r Request, err error) {
	for name, values := range q {
		switch name {
		case "topics":
			r.Topics, err = splitList(values)
		case "versions":
			r.Versions, err = splitList(values)
		case "format":
			r.Format, err = oneOf(values)
		case "resume":
			r.Resume, err = oneOf(values)
		case "ack":
			var word string
			if word, err = oneOf(values); err == nil {
				r.Ack, err = strconv.ParseBool(word)
			}
		default:
			err = errors.New("unknown")
		}
		if err != nil {
			return r, fmt.Errorf("lane: query: %.64q: %w", name, err)
		}
	}
	return r, nil
}

func oneOf(values []string) (string, error) {
	if len(values) != 1 {
		return "", fmt.Errorf("%d values, want one", len(values))
	}
	return values[0], nil
}

// Election returns what the request elects and the format it asks for.
func (r *Request) Election() (beef.Election, Format, error) {
	var e beef.Election
	for _, t := range r.Topics {
		id, err := ParseTopic(t)
		if err != nil {
			return e, 0, fmt.Errorf("lane: election: %w", err)
		}
		e.Topics = append(e.Topics, id)
	}
	for _, name := range r.Versions {
		v, ok := beef.ParseVersion(name)
		if !ok {
			return e, 0, fmt.Errorf("lane: election: version %q, want beef, beefv2 or atomic", name)
		}
		e.Versions = append(e.Versions, v)
	}
	format, err := ParseFormat(r.Format)
	if err != nil {
		return e, 0, fmt.Errorf("lane: election: %w", err)
	}
	return e, format, nil
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
