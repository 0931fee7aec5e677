package cluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// CompareDir checks that dir holds exactly these files, byte for byte.
func CompareDir(dir string, want map[string][]byte) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cluster: compare: %w", err)
	}
	for _, e := range entries {
		if _, ok := want[e.Name()]; !ok {
			return fmt.Errorf("cluster: compare: %s: nobody sent it", filepath.Join(dir, e.Name()))
		}
	}
	for name, b := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("cluster: compare: %w", err)
		}
		if !bytes.Equal(got, b) {
			return fmt.Errorf("cluster: compare: %s: %d bytes differ from the %d sent", name, len(got), len(b))
		}
	}
	return nil
}
