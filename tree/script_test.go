package tree_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"treecast/tree"
	"treecast/wire"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// TestScripts runs the transcripts of testdata, one rule of PROTOCOL §4 and §5
// a file. A line that starts with "config" makes a fresh core, one that starts
// with ">" is an event, and what follows it, indented, is what the core does.
// Blank lines and comments stay. With -update the answers are rewritten.
//
// Names stand for the ids of nodes and owners, and are those ids' bytes: ranks
// within a band are in the order of the alphabet.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := runScript(t, file, string(want))
			if again := runScript(t, file, string(want)); got != again {
				t.Fatalf("the same events led to other actions:\n%s", firstDifference(got, again))
			}
			if got == string(want) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%s: %s\n(go test -update rewrites it; review the diff)", file, firstDifference(string(want), got))
		})
	}
}

// A script is one core under test, and the driver's side of its contract.
type script struct {
	core *tree.Cohort
	now  time.Time
	out  []tree.Action

	binding wire.Binding
	topic   wire.Topic
	spec    *wire.Spec // of the cohort, for the Acks of parents

	open    map[tree.ChunkID][32]byte // content addresses of those not released
	waiting map[tree.RequestID]bool   // without a receipt
	ended   map[tree.StreamID]bool    // nothing may go there any more
	dials   map[tree.DialID]bool      // false when given up
	checks  []tree.ChunkID            // with the verifier
	text    *strings.Builder          // what is printed
	spoil   func()                    // overwrites what was lent for one Step
}

var scriptStart = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

func runScript(t *testing.T, file, text string) string {
	t.Helper()
	var b strings.Builder
	var s *script
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		at := fmt.Sprintf("%s:%d: %s", file, n+1, line)
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
			b.WriteString(line + "\n")
		case words[0] == "config":
			b.WriteString(line + "\n")
			var err error
			if s, err = newScript(&b, words[1:]); err != nil {
				t.Fatalf("%s: %v", at, err)
			}
		case words[0] == ">":
			b.WriteString(line + "\n")
			if s == nil {
				t.Fatalf("%s: no config before it", at)
			}
			if err := s.run(words[1:]); err != nil {
				t.Fatalf("%s: %v\n%s", at, err, tail(b.String()))
			}
		case strings.HasPrefix(line, "  "): // an answer, which is compared or rewritten
		default:
			t.Fatalf("%s: neither config, event, comment nor answer", at)
		}
	}
	return b.String()
}

func newScript(b *strings.Builder, words []string) (*script, error) {
	cfg, spec, err := parseConfig(words)
	if err != nil {
		return nil, err
	}
	cfg.Rand = rand.New(rand.NewPCG(1, 2))
	return scriptOf(b, cfg, spec)
}

// scriptOf is a script about a core of that configuration.
func scriptOf(b *strings.Builder, cfg tree.Config, spec *wire.Spec) (*script, error) {
	core, err := tree.New(cfg)
	if err != nil {
		return nil, err
	}
	return &script{
		core: core, now: scriptStart, text: b, binding: spec.Binding, topic: spec.Topic, spec: spec,
		open: map[tree.ChunkID][32]byte{}, waiting: map[tree.RequestID]bool{}, ended: map[tree.StreamID]bool{},
		dials: map[tree.DialID]bool{},
	}, nil
}

// run executes one command and prints what the core does.
func (s *script) run(words []string) error {
	switch words[0] {
	case "view":
		s.print(printView(s.core.View()))
		return nil
	case "counters":
		s.print(printCounters(s.core.Counters()))
		return nil
	case "quiet": // as the command that follows, but with a count of its answers alone
		loud, quiet := s.text, &strings.Builder{}
		s.text = quiet
		err := s.run(words[1:])
		s.text = loud
		s.print(fmt.Sprintf("%d lines", strings.Count(quiet.String(), "\n")))
		return err
	case "pass": // a chunk that comes and proves valid
		if err := s.run(append([]string{"frame", words[1], "soc"}, words[2:]...)); err != nil {
			return err
		}
		return s.run([]string{"verified", words[2], "valid"})
	case "place":
		return s.place(words[1:])
	case "repeat": // repeat N command: # in it is the number of the round, from 1
		n, err := strconv.Atoi(words[1])
		if err != nil {
			return err
		}
		for i := 1; i <= n; i++ {
			if err := s.run(strings.Fields(strings.ReplaceAll(strings.Join(words[2:], " "), "#", strconv.Itoa(i)))); err != nil {
				return err
			}
		}
		return nil
	case "tick":
		before := s.now
		if len(words) > 1 && words[1] == "deadline" {
			if s.now = s.core.Deadline(); s.now.IsZero() {
				return fmt.Errorf("no deadline")
			}
			s.print("after " + s.now.Sub(before).Round(time.Millisecond).String())
		} else if len(words) > 1 {
			d, err := time.ParseDuration(words[1])
			if err != nil {
				return err
			}
			s.now = s.now.Add(d)
		}
		return s.step(tree.Tick{})
	}
	ev, err := s.event(words)
	if err != nil {
		return err
	}
	return s.step(ev)
}

// place makes "s1=A:2" and the like parents, by stream, name and band (foreign
// without one), and prints what came of it. The broker accepts directly, others
// are named by the entry point E.
func (s *script) place(parents []string) error {
	loud, quiet := s.text, &strings.Builder{}
	s.text = quiet
	named, direct := "", ""
	var oks []string
	for _, p := range parents {
		stream, who, _ := strings.Cut(p, "=")
		name, band, ranked := strings.Cut(who, ":")
		how := "foreign"
		if ranked {
			how = "band=" + band
		}
		oks = append(oks, fmt.Sprintf("ok stream=%s %s", stream, how))
		if direct = name; band != "1" {
			named += fmt.Sprintf(" %s:1", name)
			if ranked {
				named += ":" + band
			}
		}
	}
	lines := []string{"join E", "dialled d1 full band=1" + named}
	if named == "" {
		lines = []string{"join " + direct}
	}
	for i := range oks {
		lines = append(lines, fmt.Sprintf("dialled d%d %s", len(lines), oks[i]))
	}
	for _, line := range lines {
		if err := s.run(strings.Fields(line)); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	s.text = loud
	s.print(printView(s.core.View()))
	return nil
}

func (s *script) print(line string) { s.text.WriteString("  " + line + "\n") }

// step applies an event, and checks the core's invariants and its part of the
// driver's contract.
func (s *script) step(ev tree.Event) error {
	s.out = s.core.Step(s.now, ev, s.out[:0])
	if s.spoil != nil {
		s.spoil()
		s.spoil = nil
	}
	for i := range s.out {
		a := &s.out[i]
		s.print(printAction(a))
		if err := s.check(a); err != nil {
			return err
		}
	}
	if d := s.core.Deadline(); !d.IsZero() && !d.After(s.now) {
		return fmt.Errorf("deadline %v is not after now", d.Sub(s.now))
	}
	return s.core.Valid()
}

// check keeps the books of the contract that the comments of Event and Action make.
func (s *script) check(a *tree.Action) error {
	if a.Stream != 0 && s.ended[a.Stream] {
		return fmt.Errorf("action for stream %d, which has ended", a.Stream)
	}
	switch a.Kind {
	case tree.ActEnd:
		s.ended[a.Stream] = true
	case tree.ActRelease, tree.ActForward, tree.ActDeliver, tree.ActVerify:
		if _, ok := s.open[a.Chunk]; !ok {
			return fmt.Errorf("chunk %d is not the core's", a.Chunk)
		}
		if a.Kind == tree.ActRelease {
			delete(s.open, a.Chunk)
		}
		if a.Kind == tree.ActVerify {
			s.checks = append(s.checks, a.Chunk)
		}
	case tree.ActDial:
		s.dials[a.Dial.ID] = true
	case tree.ActCancel:
		if !s.dials[a.Dial.ID] {
			return fmt.Errorf("cancel of dial %d, which is not out", a.Dial.ID)
		}
		s.dials[a.Dial.ID] = false
	case tree.ActReceipt:
		if !s.waiting[a.Request] {
			return fmt.Errorf("second receipt of request %d", a.Request)
		}
		delete(s.waiting, a.Request)
	}
	return nil
}

// firstDifference shows where two texts part, with the lines before it.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := 0; ; i++ {
		if i < len(w) && i < len(g) && w[i] == g[i] {
			continue
		}
		return fmt.Sprintf("line %d\n%s\nwant: %s\ngot:  %s",
			i+1, strings.Join(g[max(0, i-6):min(i, len(g))], "\n"), lineAt(w, i), lineAt(g, i))
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}

func tail(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
