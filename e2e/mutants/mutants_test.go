package mutants

import (
	"flag"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	survive = flag.Bool("mutants", false, "run the tests of tree and probe against each mutant")
	only    = flag.String("only", "", "run the mutants whose name has this in it")
)

// root is the module's.
const root = "../.."

// copied are the parts of the module that the tests of tree and probe need.
var copied = []string{"go.mod", "go.sum", "proto", "wire", "probe", "tree"}

func load(t *testing.T) (list []mutant) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no mutants: %v", err)
	}
	for _, file := range files {
		m, err := read(file)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// TestApply sees that each mutant's text is there, once, and that what takes its
// place is still Go.
func TestApply(t *testing.T) {
	copy := clone(t)
	for _, m := range load(t) {
		was, err := m.apply(copy)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), filepath.Join(copy, m.file), nil, 0); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if err := m.undo(copy, was); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSurvivors runs the tests on each mutant, if it is asked to: one of them has
// to fail. A mutant that does not compile proves nothing, and fails here.
func TestSurvivors(t *testing.T) {
	if !*survive {
		return // minutes: see the package comment
	}
	copy := clone(t)
	if out, err := run(copy); err != nil {
		t.Fatalf("without a mutant: %v\n%s", err, tail(out))
	}
	for _, m := range load(t) {
		if !strings.Contains(m.name, *only) {
			continue
		}
		was, err := m.apply(copy)
		if err != nil {
			t.Fatal(err)
		}
		out, err := run(copy)
		switch {
		case err == nil:
			t.Errorf("%s survives: %s", m.name, m.rule)
		case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
			t.Errorf("%s does not compile:\n%s", m.name, tail(out))
		default:
			t.Logf("%s: %s", m.name, failing(out))
		}
		if err := m.undo(copy, was); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs the tests below dir until one fails.
func run(dir string) (string, error) {
	cmd := exec.Command("go", "test", "-failfast", "-timeout", "3m", "./tree", "./probe")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// clone copies what is needed of the module.
func clone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range copied {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			to := filepath.Join(dir, strings.TrimPrefix(path, root))
			if d.IsDir() {
				return os.MkdirAll(to, 0o755)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(to, text, 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// failing names the tests that failed.
func failing(out string) string {
	var names []string
	for _, line := range strings.Split(out, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			names = append(names, strings.Fields(name)[0])
		}
	}
	if len(names) == 0 {
		return "a panic or a timeout"
	}
	return strings.Join(names, " ")
}

func tail(out string) string { return out[max(0, len(out)-2000):] }
