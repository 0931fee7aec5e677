package node

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/tree"
	"treecast/wire"
)

// A store keeps what has to survive a restart under the data directory. With an
// empty dir it keeps nothing.
//
//	cohorts/TOPIC       the Open message of a cohort opened here
//	cohorts/TOPIC-PEER  the same, opened by a peer
//	index/TOPIC-OWNER   the end of the index block in use
//	lock                held by the one process that uses the directory
type store struct {
	dir  string
	lock *os.File
}

const (
	cohortDir = "cohorts"
	indexDir  = "index"
)

// newStore makes the directories below dir and keeps other nodes out, which would
// use the same indices for other chunks.
func newStore(dir string) (*store, error) {
	if dir == "" {
		return &store{}, nil
	}
	for _, sub := range []string{cohortDir, indexDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("node: data dir: %w", err)
		}
	}
	lock, err := lockFile(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("node: data dir %s: %w", dir, err)
	}
	return &store{dir: dir, lock: lock}, nil
}

// close lets others use the directory.
func (s *store) close() error {
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// cohortPath is where a cohort is kept: by whom it was opened is part of its name.
func (s *store) cohortPath(t wire.Topic, by peer.ID) string {
	name := t.String()
	if by != "" {
		name += "-" + by.String()
	}
	return filepath.Join(s.dir, cohortDir, name)
}

// putCohort remembers a cohort opened here, by a peer if that is not empty.
func (s *store) putCohort(spec *wire.Spec, by peer.ID) error {
	if s.dir == "" {
		return nil
	}
	open := wire.Open{Spec: *spec}
	if err := writeFile(s.cohortPath(spec.Topic, by), open.Append(nil)); err != nil {
		return fmt.Errorf("node: store cohort %v: %w", spec.Topic, err)
	}
	return nil
}

// dropCohort forgets a cohort opened here.
func (s *store) dropCohort(t wire.Topic, by peer.ID) error {
	if s.dir == "" {
		return nil
	}
	if err := removeFile(s.cohortPath(t, by)); err != nil {
		return fmt.Errorf("node: drop cohort %v: %w", t, err)
	}
	return nil
}

// storedCohort is one cohort opened here before.
type storedCohort struct {
	spec wire.Spec
	by   peer.ID // the peer that opened it; empty: the own API
}

// cohorts returns the cohorts opened here, in the order of their topics. A file
// that makes no sense is named in the log and left alone.
func (s *store) cohorts(log *slog.Logger) ([]storedCohort, error) {
	if s.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(filepath.Join(s.dir, cohortDir))
	if err != nil {
		return nil, fmt.Errorf("node: stored cohorts: %w", err)
	}
	var list []storedCohort
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // left by a crash inside writeFile
		}
		c, err := s.readCohort(e.Name())
		if err != nil {
			log.Warn("stored cohort ignored", "file", e.Name(), "err", err)
			continue
		}
		list = append(list, c)
	}
	return list, nil
}

func (s *store) readCohort(name string) (c storedCohort, err error) {
	topic, by, fromPeer := strings.Cut(name, "-")
	if fromPeer {
		if c.by, err = peer.Decode(by); err != nil {
			return c, err
		}
	}
	data, err := os.ReadFile(filepath.Join(s.dir, cohortDir, name))
	if err != nil {
		return c, err
	}
	first, err := wire.ParseFirst(data)
	if err != nil {
		return c, err
	}
	if first.Open == nil || first.Open.Spec.Topic.String() != topic {
		return c, errors.New("node: no Open of the topic that names the file")
	}
	c.spec = first.Open.Spec
	return c, tree.ValidateSpec(&c.spec)
}
