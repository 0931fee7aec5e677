package arch

import (
	"go/token"
	"slices"
	"strings"
)

// layers from the bottom to the top. A package imports lower layers and its own.
var layers = []string{"proto", "wire", "probe", "tree", "node", "cmd", "e2e"}

// order checks the direction of imports. The one exception is `treecast sim`.
func (f *finding) order() {
	own := slices.Index(layers, f.p.Layer)
	if own < 0 {
		f.add("order", token.NoPos, "%s is in no layer", f.p.Path)
	}
	for _, path := range f.p.Imports {
		if f.p.Path == "treecast/cmd/treecast" && path == "treecast/e2e/sim" {
			continue // the simulator is a command, and a package of what runs many nodes
		}
		if layer := layerOf(path); layer != "" && slices.Index(layers, layer) > own {
			f.add("order", f.importOf(path), "%s imports %s", f.p.Layer, layer)
		}
	}
	for _, path := range f.p.TestImports {
		layer := layerOf(path)
		if (layer == "e2e" || layer == "cmd") && slices.Index(layers, layer) > own {
			f.add("order", token.NoPos, "a test of %s imports %s", f.p.Path, path)
		}
	}
}

// importOf is where a path is imported, if the files were read.
func (f *finding) importOf(path string) token.Pos {
	for _, file := range f.p.Files {
		for _, spec := range file.Imports {
			if strings.Trim(spec.Path.Value, "`\"") == path {
				return spec.Pos()
			}
		}
	}
	return token.NoPos
}

// A ban forbids a package and those below it, in wire, probe and tree.
type ban struct {
	path string
	not  []string // layers that may
	why  string
}

var bans = []ban{
	{path: "net", why: "sockets are the driver's"},
	{path: "os", why: "files and processes are the driver's"},
	{path: "syscall", why: "the system is the driver's"},
	{path: "context", why: "cancelling is the driver's"},
	{path: "log", why: "what is worth a line is an action"},
	{path: "sync", not: []string{"wire"}, why: "a core has one user at a time"},
	{path: "runtime", why: "what runs where is the driver's"},
	{path: "testing", why: "it is for tests"},
	{path: "math/rand", why: "math/rand/v2 is used"},
	{path: "crypto/rand", not: []string{"wire"}, why: "chance comes from Config.Rand"},
	{path: "github.com/libp2p", why: "libp2p ends at node"},
	{path: "github.com/multiformats", why: "libp2p's types end at node"},
	{path: "google.golang.org/protobuf", not: []string{"wire"}, why: "protobuf ends at wire"},
	{path: Module + "/proto", not: []string{"wire"}, why: "protobuf ends at wire"},
}

// imports checks what wire, probe and tree import from outside the project.
func (f *finding) imports() {
	for _, path := range f.p.Imports {
		for _, b := range bans {
			below := strings.HasPrefix(path, b.path+"/") && path != "math/rand/v2"
			if (path == b.path || below) && !slices.Contains(b.not, f.p.Layer) {
				f.add("import", f.importOf(path), "%s: %s", path, b.why)
			}
		}
	}
}
