package arch

import (
	"go/token"
	"slices"
	"strings"
)

// A reserve is a module, or some of a module's packages, that few may import:
// whoever else wants it is to use what those few make of it.
type reserve struct {
	path  string   // import paths that begin so
	in    []string // packages that may
	tests []string // packages whose tests may
}

// reserves, of which the first that fits counts.
var reserves = []reserve{
	{path: "github.com/nats-io/nats-server/", tests: []string{Module + "/e2e/jetstream"}},
	{path: "github.com/nats-io/", in: []string{Module + "/node/sink"}, tests: []string{Module + "/node/sink", Module + "/e2e/jetstream"}},
}

// reserved checks the imports of what is not for everybody.
func (f *finding) reserved() {
	for _, path := range f.p.Imports {
		if r := reserveOf(path); r != nil && !slices.Contains(r.in, f.p.Path) {
			f.add("reserved", f.importOf(path), "%s imports %s", f.p.Path, path)
		}
	}
	for _, path := range f.p.TestImports {
		if r := reserveOf(path); r != nil && !slices.Contains(r.tests, f.p.Path) {
			f.add("reserved", token.NoPos, "a test of %s imports %s", f.p.Path, path)
		}
	}
}

func reserveOf(path string) *reserve {
	for i := range reserves {
		if strings.HasPrefix(path+"/", reserves[i].path) {
			return &reserves[i]
		}
	}
	return nil
}
