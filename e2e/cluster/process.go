package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// stopLimit is how long a process may take to end when asked to.
const stopLimit = 15 * time.Second

// Process is one run of the built binary. Its stdout is kept line by line, its
// stderr whole. The test's end kills it.
type Process struct {
	Name string
	cmd  *exec.Cmd

	mu     sync.Mutex
	lines  []string
	stderr bytes.Buffer
	done   chan struct{} // closed when it has ended and all output is read
	err    error         // how it ended
}

// Start runs the binary with the arguments.
func Start(t testing.TB, name, binary string, args ...string) *Process {
	t.Helper()
	p := &Process{Name: name, cmd: exec.Command(binary, args...), done: make(chan struct{})}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &lockedWriter{mu: &p.mu, w: &p.stderr}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(stdout) // ends with the process
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%s: %s\n%s", p.Name, strings.Join(args, " "), tail(p.Stderr(), 4000))
		}
	})
	return p
}

func (p *Process) read(stdout io.Reader) {
	s := bufio.NewScanner(stdout)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		p.mu.Lock()
		p.lines = append(p.lines, s.Text())
		p.mu.Unlock()
	}
	p.err = p.cmd.Wait()
	close(p.done)
}

// Lines are the lines on stdout so far.
func (p *Process) Lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.lines...)
}

// CountLines is how many there are.
func (p *Process) CountLines() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lines)
}

// Stderr is what it has said there.
func (p *Process) Stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// AwaitJSON waits for the first line on stdout and decodes it.
func (p *Process) AwaitJSON(t testing.TB, into any) {
	t.Helper()
	Eventually(t, stopLimit, p.Name+" says that it is up", func() (bool, string) {
		select {
		case <-p.done:
			t.Fatalf("%s ended: %v\n%s", p.Name, p.err, p.Stderr())
		default:
		}
		return p.CountLines() > 0, tail(p.Stderr(), 1000)
	})
	if err := json.Unmarshal([]byte(p.Lines()[0]), into); err != nil {
		t.Fatalf("%s: %v in %q", p.Name, err, p.Lines()[0])
	}
}

// Kill ends the process as a crash would, with SIGKILL, and waits for that.
func (p *Process) Kill() {
	p.cmd.Process.Kill() // the error is that it has ended
	<-p.done
}

// Signal sends the process a signal. One that has ended takes none.
func (p *Process) Signal(sig syscall.Signal) { p.cmd.Process.Signal(sig) }

// Stop asks the process to end, with SIGTERM, and returns its exit code.
func (p *Process) Stop(t testing.TB) int {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM) // the error is that it has ended
	return p.Wait(t, stopLimit)
}

// Wait waits until the process has ended by itself and returns its exit code.
func (p *Process) Wait(t testing.TB, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		t.Fatalf("%s does not end within %v\n%s", p.Name, limit, tail(p.Stderr(), 4000))
	}
	if exit := (*exec.ExitError)(nil); errors.As(p.err, &exit) {
		return exit.ExitCode()
	}
	if p.err != nil {
		t.Fatalf("%s: %v", p.Name, p.err)
	}
	return 0
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + s[len(s)-n:]
}
