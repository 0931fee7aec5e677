package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
)

// A Violation is one place that breaks a rule.
type Violation struct {
	Rule string
	File string // base name; empty for what concerns a whole package
	Line int
	Text string
}

// String is "package: file:line: rule: text", without what is not set.
func (v Violation) String() string {
	if v.File == "" {
		return fmt.Sprintf("%s: %s", v.Rule, v.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", v.File, v.Line, v.Rule, v.Text)
}

// finding collects the violations of one package.
type finding struct {
	p    *Package
	list []Violation
}

func (f *finding) add(rule string, pos token.Pos, format string, args ...any) {
	v := Violation{Rule: rule, Text: fmt.Sprintf(format, args...)}
	if pos.IsValid() {
		at := f.p.Fset.Position(pos)
		v.File, v.Line = filepath.Base(at.Filename), at.Line
	}
	f.list = append(f.list, v)
}

// Check is all that a package breaks, in order of file and line. The rules about
// the inside of packages want one that was read by Parse.
func Check(p *Package) []Violation {
	f := &finding{p: p}
	f.order()
	f.reserved()
	if pure(p.Layer) {
		f.imports()
		for _, file := range p.Files {
			ast.Inspect(file, f.node)
			if deterministic(p.Layer) {
				f.mapOrder(file)
			}
		}
		f.names()
	}
	slices.SortFunc(f.list, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Text, b.Text))
	})
	return f.list
}

// pure says whether a layer keeps off the world (ARCHITECTURE).
func pure(layer string) bool { return layer == "wire" || deterministic(layer) }

// deterministic says whether a layer acts the same for the same events (STYLE,
// The core).
func deterministic(layer string) bool { return layer == "probe" || layer == "tree" }
