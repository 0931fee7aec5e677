package arch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"treecast/e2e/arch"
)

const root = "../.."

// TestImports checks the direction of all imports of the project.
func TestImports(t *testing.T) {
	packages, err := arch.List(root, "./...")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range packages {
		seen[p.Layer] = true
		for _, v := range arch.Check(p) {
			t.Errorf("%s: %v", p.Path, v)
		}
	}
	for _, layer := range []string{"proto", "wire", "probe", "tree", "node", "cmd", "e2e"} {
		if !seen[layer] {
			t.Errorf("no package in %s: is the right folder looked at?", layer)
		}
	}
}

// TestInside checks the files of the pure packages.
func TestInside(t *testing.T) {
	packages, err := arch.Parse(root, "./wire/...", "./probe/...", "./tree/...")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 5 {
		t.Errorf("%d packages", len(packages))
	}
	for _, p := range packages {
		if len(p.Files) == 0 {
			t.Errorf("%s: no files", p.Path)
		}
		for _, v := range arch.Check(p) {
			t.Errorf("%s: %v", p.Path, v)
		}
	}
}

// TestPlanted checks packages that break a rule each. A comment "want RULE" is
// on each line that is to be found, and nothing else may be.
func TestPlanted(t *testing.T) {
	packages, err := arch.Parse(".", planted(t)...)
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]bool{}
	for _, p := range packages {
		name := strings.TrimPrefix(p.Path, arch.Module+"/e2e/arch/testdata/")
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range arch.Check(p) {
				got = append(got, fmt.Sprintf("%s:%d %s", v.File, v.Line, v.Rule))
				rules[v.Rule] = true
			}
			want := wants(t, filepath.Join("testdata", name))
			if !slices.Equal(got, want) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if strings.HasPrefix(name, "fine/") && len(got) > 0 {
				t.Error("it is to break no rule")
			}
		})
	}
	for _, rule := range []string{"order", "import", "clock", "goroutine", "channel", "output", "init", "chance", "maporder", "reserved"} {
		if !rules[rule] {
			t.Errorf("no package breaks the rule %q", rule)
		}
	}
}

// planted is the folders below testdata with Go files in them; "./..." leaves
// testdata out.
func planted(t *testing.T) (dirs []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing planted: %v", err)
	}
	for _, f := range files {
		dirs = append(dirs, "./"+filepath.ToSlash(filepath.Dir(f)))
	}
	return slices.Compact(dirs)
}

var want = regexp.MustCompile(`// want((?: [a-z]+)+)`)

func wants(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if m := want.FindStringSubmatch(line); m != nil {
				for _, rule := range strings.Fields(m[1]) {
					list = append(list, fmt.Sprintf("%s:%d %s", filepath.Base(file), n+1, rule))
				}
			}
		}
	}
	return list
}

// Tests are held to the rule that nothing imports e2e or cmd.
func TestTestImports(t *testing.T) {
	p := &arch.Package{Path: "treecast/tree", Layer: "tree", TestImports: []string{"treecast/node", "treecast/e2e/sim", "treecast/cmd/treecast"}}
	got := arch.Check(p)
	if len(got) != 2 {
		t.Errorf("found %v", got)
	}
	p = &arch.Package{Path: "treecast/e2e/sim", Layer: "e2e", Imports: []string{"treecast/tree"}, TestImports: []string{"treecast/e2e/cluster"}}
	if got := arch.Check(p); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	p = &arch.Package{Path: "treecast/extra", Layer: "extra"}
	if got := arch.Check(p); len(got) != 1 || !strings.Contains(got[0].String(), "in no layer") {
		t.Errorf("found %v", got)
	}
}

// The NATS server is for one package's tests, its client for the sink.
func TestReserved(t *testing.T) {
	const server, client = "github.com/nats-io/nats-server/v2/server", "github.com/nats-io/nats.go/jetstream"
	for _, c := range []struct {
		path, layer    string
		imports, tests []string
		want           int
	}{
		{"treecast/e2e/jetstream", "e2e", nil, []string{server, client}, 0},
		{"treecast/e2e/jetstream", "e2e", []string{server, client}, nil, 2},
		{"treecast/e2e/cluster", "e2e", nil, []string{server, client}, 2},
		{"treecast/node/sink", "node", []string{client, "github.com/nats-io/nkeys"}, []string{client}, 0},
		{"treecast/node/sink", "node", nil, []string{server}, 1},
		{"treecast/cmd/treecast", "cmd", []string{client}, nil, 1},
	} {
		got := arch.Check(&arch.Package{Path: c.path, Layer: c.layer, Imports: c.imports, TestImports: c.tests})
		if len(got) != c.want {
			t.Errorf("%s: %v and %v in tests: found %v", c.path, c.imports, c.tests, got)
		}
	}
}

// What cannot be listed or does not compile is an error, not a pass.
func TestErrors(t *testing.T) {
	for _, pattern := range []string{"./no-such-folder", "./testdata/order"} {
		if _, err := arch.Parse(".", pattern); err == nil {
			t.Errorf("%s: no error", pattern)
		}
	}
}
