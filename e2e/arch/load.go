package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module is the project's module path.
const Module = "treecast"

// A Package is what the rules look at.
type Package struct {
	Path        string // import path
	Layer       string // first element of the path below the module, or below testdata/CASE
	Imports     []string
	TestImports []string // of both kinds of test files
	// Set by Parse: the files without tests, and what their names mean.
	Fset  *token.FileSet
	Files []*ast.File
	Uses  map[*ast.Ident]types.Object
	Types map[ast.Expr]types.TypeAndValue

	dir     string
	names   []string
	exports map[string]string // import path to a file of export data
}

// listed is the part of go list's answer that is used.
type listed struct {
	ImportPath, Dir, Export            string
	GoFiles, CgoFiles                  []string
	Imports, TestImports, XTestImports []string
	DepOnly                            bool
}

// List finds the packages of patterns, seen from dir, and their imports.
// Whether they compile does not matter.
func List(dir string, patterns ...string) ([]*Package, error) {
	list, err := goList(dir, append([]string{"-e"}, patterns...))
	if err != nil {
		return nil, err
	}
	var packages []*Package
	for i := range list {
		packages = append(packages, packageOf(&list[i]))
	}
	return packages, nil
}

// Parse is List with the files read and their types checked, for which they
// have to compile.
func Parse(dir string, patterns ...string) ([]*Package, error) {
	list, err := goList(dir, append([]string{"-export", "-deps"}, patterns...))
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for i := range list {
		exports[list[i].ImportPath] = list[i].Export
	}
	var packages []*Package
	for i := range list {
		if list[i].DepOnly {
			continue
		}
		p := packageOf(&list[i])
		p.exports = exports
		if err := p.check(); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

func goList(dir string, args []string) ([]listed, error) {
	fields := "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,Imports,TestImports,XTestImports,DepOnly"
	cmd := exec.Command("go", append([]string{"list", fields}, args...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("arch: go list %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	var list []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("arch: go list: %w", err)
		}
		list = append(list, l)
	}
}

func packageOf(l *listed) *Package {
	return &Package{
		Path: l.ImportPath, Layer: layerOf(l.ImportPath), Imports: l.Imports,
		TestImports: append(append([]string{}, l.TestImports...), l.XTestImports...),
		dir:         l.Dir, names: append(append([]string{}, l.GoFiles...), l.CgoFiles...),
	}
}

// layerOf is the layer that an import path stands for, empty outside of the
// project. A package planted in testdata/CASE stands for one at the module's root.
func layerOf(path string) string {
	rest, ok := strings.CutPrefix(path, Module+"/")
	if !ok {
		return ""
	}
	if _, planted, ok := strings.Cut(rest, "/testdata/"); ok {
		_, rest, _ = strings.Cut(planted, "/")
	}
	layer, _, _ := strings.Cut(rest, "/")
	return layer
}

// check reads the files and resolves their names.
func (p *Package) check() error {
	p.Fset = token.NewFileSet()
	for _, name := range p.names {
		f, err := parser.ParseFile(p.Fset, filepath.Join(p.dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("arch: %s: %w", p.Path, err)
		}
		p.Files = append(p.Files, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: importer.ForCompiler(p.Fset, "gc", func(path string) (io.ReadCloser, error) {
		if p.exports[path] == "" {
			return nil, fmt.Errorf("arch: no export data of %s", path)
		}
		return os.Open(p.exports[path])
	})}
	if _, err := conf.Check(p.Path, p.Fset, p.Files, &info); err != nil {
		return fmt.Errorf("arch: %s: %w", p.Path, err)
	}
	p.Uses, p.Types = info.Uses, info.Types
	return nil
}
