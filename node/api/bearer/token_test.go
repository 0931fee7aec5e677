package bearer_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"treecast/node/api/bearer"
)

func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(" sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	token, err := bearer.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]bool{
		"": false, "sesame": false, "Bearer ": false, "Bearer sesam": false, "Bearer sesame1": false, "Basic sesame": false,
		"Bearer sesame": true,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", header)
		if token.In(r) != want {
			t.Errorf("%q: %v", header, !want)
		}
	}
	if s := fmt.Sprintf("%v %+v %#v", token, token, *token); strings.Contains(s, "sesame") {
		t.Errorf("printed as %s", s)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"empty": " \n", "long": strings.Repeat("x", 4097)} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bearer.Read(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := bearer.Read(filepath.Join(dir, "none")); !os.IsNotExist(err) && !strings.Contains(fmt.Sprint(err), "none") {
		t.Errorf("missing file: %v", err)
	}
}
