//go:build !unix

package node

import "os"

// lockFile opens the file at path. Without flock nothing keeps a second node out.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}
