package cluster

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build builds the treecast binary into dir and returns its path.
func Build(dir string) (string, error) {
	path := filepath.Join(dir, "treecast")
	out, err := exec.Command("go", "build", "-o", path, "treecast/cmd/treecast").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cluster: build: %w\n%s", err, out)
	}
	return path, nil
}
