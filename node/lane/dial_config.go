package lane

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"treecast/wire/beef"
)

// DialConfig is one consumer that the edge connects to (PROTOCOL §7 Egress lanes).
type DialConfig struct {
	// Name tells the lane apart in logs and metrics: 1..64 letters, digits, dots,
	// dashes and underscores.
	Name string
	// Addr is the consumer's host:port.
	Addr string
	// Election is what the consumer gets; the zero one is everything.
	Election beef.Election
	// Format is what each object is sent as.
	Format Format
}

// maxLaneName is the most bytes in the name of a lane.
const maxLaneName = 64

// ParseDial parses NAME@HOST:PORT=TOPIC,TOPIC…, as --egress-dial has it. Topics
// are names or 64 hex digits; no topics, or * alone, elect everything. The error
// quotes what is wrong.
func ParseDial(s string) (DialConfig, error) {
	name, rest, ok := strings.Cut(s, "@")
	if !ok {
		return DialConfig{}, fmt.Errorf("lane: dial %q: want NAME@HOST:PORT=TOPIC,TOPIC", s)
	}
	d := DialConfig{Name: name}
	var topics string
	d.Addr, topics, ok = strings.Cut(rest, "=")
	if err := d.check(); err != nil {
		return DialConfig{}, fmt.Errorf("lane: dial %q: %w", s, err)
	}
	if !ok || topics == "*" {
		return d, nil
	}
	for _, t := range strings.Split(topics, ",") {
		id, err := ParseTopic(strings.TrimSpace(t))
		if err != nil {
			return DialConfig{}, fmt.Errorf("lane: dial %q: %w", s, err)
		}
		d.Election.Topics = append(d.Election.Topics, id)
	}
	return d, nil
}

// check judges name, address and format.
func (d *DialConfig) check() error {
	if !isName(d.Name) {
		return fmt.Errorf("name %q, want 1..%d letters, digits, dots, dashes and underscores", d.Name, maxLaneName)
	}
	host, port, err := net.SplitHostPort(d.Addr)
	if err == nil && host == "" {
		err = errors.New("no host")
	}
	if err == nil {
		var n uint64
		if n, err = strconv.ParseUint(port, 10, 16); err == nil && n == 0 {
			err = errors.New("port 0")
		}
	}
	if err != nil {
		return fmt.Errorf("address %q, want HOST:PORT: %w", d.Addr, err)
	}
	if d.Format > FormatFrame {
		return fmt.Errorf("format %d", d.Format)
	}
	return nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
