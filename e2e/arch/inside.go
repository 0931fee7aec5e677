package arch

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// node checks one node of a file of wire, probe or tree by its form.
func (f *finding) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		f.add("goroutine", n.Pos(), "go statement")
	case *ast.ChanType:
		f.add("channel", n.Pos(), "channel type")
	case *ast.SendStmt:
		f.add("channel", n.Pos(), "send")
	case *ast.SelectStmt:
		f.add("channel", n.Pos(), "select")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			f.add("channel", n.Pos(), "receive")
		}
	case *ast.FuncDecl:
		if n.Name.Name == "init" && n.Recv == nil {
			f.add("init", n.Pos(), "func init")
		}
	}
	return true
}

// clocks are the functions of package time that read the clock or start a timer.
var clocks = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}

// names checks what the names in wire, probe and tree stand for, under whatever
// alias a package was imported.
func (f *finding) names() {
	for id, obj := range f.p.Uses { // the list is sorted afterwards
		if b, ok := obj.(*types.Builtin); ok && (b.Name() == "print" || b.Name() == "println") {
			f.add("output", id.Pos(), "%s", b.Name())
		}
		fn, ok := obj.(*types.Func)
		if !ok || fn.Pkg() == nil || fn.Signature().Recv() != nil {
			continue
		}
		name := fn.Name()
		switch fn.Pkg().Path() {
		case "time":
			if slices.Contains(clocks, name) {
				f.add("clock", id.Pos(), "time.%s", name)
			}
		case "fmt":
			if strings.HasPrefix(name, "Print") || strings.HasPrefix(name, "Scan") {
				f.add("output", id.Pos(), "fmt.%s", name)
			}
		case "math/rand/v2":
			if deterministic(f.p.Layer) {
				f.add("chance", id.Pos(), "rand.%s", name)
			}
		}
	}
}

// reason is what a comment that excuses a loop over a map must say.
var reason = regexp.MustCompile(`\border\b`)

// mapOrder checks the loops of a file of probe or tree. An order that does not
// matter is said to do so in a comment on the loop's line or the one above, which
// has the word "order" in it.
func (f *finding) mapOrder(file *ast.File) {
	excused := map[int]bool{} // lines
	for _, group := range file.Comments {
		if reason.MatchString(group.Text()) {
			line := f.p.Fset.Position(group.End()).Line
			excused[line], excused[line+1] = true, true
		}
	}
	check := func(pos token.Pos, what string) {
		if !excused[f.p.Fset.Position(pos).Line] {
			f.add("maporder", pos, "%s", what)
		}
	}
	sorted := map[ast.Expr]bool{} // calls whose result is sorted at once
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if t := f.p.Types[n.X].Type; t != nil && isMap(t) {
				check(n.Pos(), "range over a map")
			}
		case *ast.CallExpr:
			fn := f.called(n)
			if strings.HasPrefix(fn, "slices.Sorted") {
				sorted[n.Args[0]] = true
			}
			if !sorted[n] && (fn == "maps.Keys" || fn == "maps.Values" || fn == "maps.All") {
				check(n.Pos(), fn)
			}
		}
		return true
	})
}

// isMap says whether t is a map, or a type parameter that may be one.
func isMap(t types.Type) bool {
	if p, ok := t.(*types.TypeParam); ok {
		t = p.Underlying().(*types.Interface)
		core := false
		for e := range t.(*types.Interface).EmbeddedTypes() {
			core = core || isMap(e)
		}
		return core
	}
	if u, ok := t.(*types.Union); ok {
		for term := range u.Terms() {
			if isMap(term.Type()) {
				return true
			}
		}
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// called is "package.Function" of a call of a package's function, else empty.
func (f *finding) called(call *ast.CallExpr) string {
	fun := ast.Unparen(call.Fun)
	if s, ok := fun.(*ast.SelectorExpr); ok {
		fun = s.Sel
	}
	id, ok := fun.(*ast.Ident)
	if !ok {
		return ""
	}
	fn, ok := f.p.Uses[id].(*types.Func)
	if !ok || fn.Pkg() == nil {
		return ""
	}
	return fn.Pkg().Path() + "." + fn.Name()
}
