package view_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"treecast/cmd/treecast/internal/view"
	"treecast/node/api"
)

// elements counts the elements of an SVG by name and class, and fails if it is
// not well-formed.
func elements(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	count := make(map[string]int)
	dec := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if e, ok := tok.(xml.StartElement); ok {
			name := e.Name.Local
			for _, a := range e.Attr {
				if a.Name.Local == "class" {
					name += "." + strings.ReplaceAll(a.Value, " ", ".")
				}
			}
			count[name]++
		}
	}
}

func draw(t *testing.T, tree *api.Tree) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := view.SVG(&b, tree); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSVGDrawsEveryPeerOnce(t *testing.T) {
	tree := relay()
	svg := draw(t, tree)
	got := elements(t, svg)
	want := map[string]int{"path.edge": 4, "rect.box.self": 1, "rect.box.broker": 1, "rect.box": 2, "rect.box.leaf": 1, "rect.rail": 2}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%d of %s, want %d in\n%s", got[name], name, n, svg)
		}
	}
	for _, id := range []string{"111111111111", "222222222222", "888888888888", "999999999999"} {
		if strings.Count(string(svg), ">"+id+"<") != 1 {
			t.Errorf("%s is not drawn once", id)
		}
	}
	if !bytes.Equal(svg, draw(t, relay())) {
		t.Error("the same view is drawn differently")
	}
}

func TestSVGOfManyChildrenAndOfNone(t *testing.T) {
	tree := relay()
	for range 40 {
		tree.Cohorts[0].Children = append(tree.Cohorts[0].Children, api.Child{Link: api.Link{Overlay: `<&"`}, QueueFill: 2})
	}
	tree.Cohorts = append(tree.Cohorts, api.Cohort{Topic: overlay("3"), Broker: true, Capacity: 4})
	if got := elements(t, draw(t, tree)); got["path.edge"] != 44 || got["rect.box.self.broker"] != 1 {
		t.Errorf("%v", got)
	}
	if svg := draw(t, &api.Tree{}); !strings.Contains(string(svg), "no cohorts") {
		t.Errorf("%s", svg)
	}
}
