package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// partRole is set in the environment of a process that plays a part of a row.
const partRole = "TREECAST_BENCH_PART"

// A part is a process of its own that runs this program in one role. The two talk
// in lines of JSON.
type part struct {
	cmd *exec.Cmd
	conversation
	in io.Closer
}

// A conversation is one end of it.
type conversation struct {
	enc *json.Encoder
	dec *json.Decoder
}

func (c *conversation) send(v any) error {
	if err := c.enc.Encode(v); err != nil {
		return fmt.Errorf("bench: part: %w", err)
	}
	return nil
}

func (c *conversation) receive(v any) error {
	if err := c.dec.Decode(v); err != nil {
		return fmt.Errorf("bench: part: %w", err)
	}
	return nil
}

// A mark is what a part has used until one moment.
type mark struct {
	At      time.Time
	CPU     time.Duration
	Chunks  uint64 // taken, read or written, once each
	Writes  uint64
	Bytes   uint64 // written
	Mallocs uint64
}

// answers sends what take returns for each line that comes, until the other end closes.
func (c *conversation) answers(take func() (any, error)) error {
	for {
		var ask string
		if err := c.dec.Decode(&ask); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("bench: part: %w", err)
		}
		v, err := take()
		if err != nil {
			return err
		}
		if err := c.send(v); err != nil {
			return err
		}
	}
}

// marks answers each line with a mark.
func (c *conversation) marks(take func() (mark, error)) error {
	return c.answers(func() (any, error) { return take() })
}

// startPart starts a process in a role.
func startPart(ctx context.Context, role string, args ...string) (*part, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("bench: part %s: %w", role, err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), partRole+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("bench: part %s: %w", role, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("bench: part %s: %w", role, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("bench: part %s: %w", role, err)
	}
	return &part{cmd: cmd, in: in, conversation: conversation{json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))}}, nil
}

// stop has the process end and waits for it.
func (p *part) stop() error {
	p.in.Close()
	return p.cmd.Wait()
}

func (p *part) mark() (m mark, err error) {
	if err := p.send("mark"); err != nil {
		return m, err
	}
	return m, p.receive(&m)
}

// between is what the process used while work ran, a chunk.
func (p *part) between(work func() error) (Figures, error) {
	before, err := p.mark()
	if err != nil {
		return nil, err
	}
	if err := work(); err != nil {
		return nil, err
	}
	after, err := p.mark()
	if err != nil {
		return nil, err
	}
	return perChunk(before, after)
}

func perChunk(before, after mark) (Figures, error) {
	chunks := float64(after.Chunks - before.Chunks)
	if chunks == 0 {
		return nil, errors.New("bench: part: no chunk passed")
	}
	f := Figures{
		"cpu_us_per_chunk": float64((after.CPU - before.CPU).Microseconds()) / chunks,
		"msgs_per_s":       chunks / after.At.Sub(before.At).Seconds(),
		"allocs_per_chunk": float64(after.Mallocs-before.Mallocs) / chunks,
	}
	if w := after.Writes - before.Writes; w > 0 {
		f["chunks_per_write"] = float64(after.Bytes-before.Bytes) / float64(frameSize) / float64(w)
	}
	return f, nil
}

// playPart runs this process's role, if it has one.
func playPart(ctx context.Context, args []string) (played bool, err error) {
	role := os.Getenv(partRole)
	if role == "" {
		return false, nil
	}
	c := &conversation{json.NewEncoder(os.Stdout), json.NewDecoder(bufio.NewReader(os.Stdin))}
	switch role {
	case "relay":
		return true, roleRelay(ctx, c, args)
	case "hold-relay":
		return true, roleHoldRelay(ctx, c, args)
	case "hold-nodes":
		return true, roleHoldNodes(c, args)
	case "hold-cohorts":
		return true, roleHoldCohorts(c, args)
	case "hold-children":
		return true, roleHoldChildren(c)
	case "hold-streams":
		return true, roleHoldStreams(c)
	case "check":
		return true, roleCheck(c, true)
	case "check-recover":
		return true, roleCheck(c, false)
	case "read":
		return true, roleRead(c)
	case "write":
		return true, roleWrite(ctx, c)
	}
	return true, fmt.Errorf("bench: no role %q", role)
}
