package retain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// addUp finds out what the store holds.
func (s *Store) addUp() error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kindReceipt}, UpperBound: []byte{kindReceipt + 1}})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		r, err := parseReceiptHead(it.Value())
		if err == nil && len(it.Key()) != 9 {
			err = fmt.Errorf("retain: receipt under key %x", it.Key())
		}
		if err != nil {
			return errors.Join(err, it.Close())
		}
		number := binary.BigEndian.Uint64(it.Key()[1:])
		if s.bytes == 0 {
			s.oldest = number
		}
		s.bytes += r.bytes
		s.next = number + 1
	}
	s.kept.Store(int64(s.bytes))
	return it.Close()
}

// evict removes the oldest messages beyond the bounds.
func (s *Store) evict(now time.Time) {
	aged := s.cfg.Age > 0 && now.Sub(s.aged) >= min(ageEvery, s.cfg.Age)
	for s.bytes > uint64(s.cfg.Size) || aged {
		more, err := s.dropOldest(now)
		if err != nil {
			s.cfg.Log.Error("old messages not removed", "err", err)
			return
		}
		if !more {
			break
		}
	}
	if aged {
		s.aged = now
	}
	s.kept.Store(int64(s.bytes))
}

// dropOldest removes the messages of some receipts, and these with them, as one.
// False: nothing more is beyond the bounds.
func (s *Store) dropOldest(now time.Time) (more bool, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: receiptKey(s.oldest), UpperBound: receiptKey(s.next)})
	if err != nil {
		return false, fmt.Errorf("retain: evict: %w", err)
	}
	b := s.db.NewBatch()
	bytes, oldest, n := s.bytes, s.oldest, 0
	for ok := it.First(); ok && n < dropBatch; ok = it.Next() {
		r, perr := parseReceipt(it.Value())
		if perr != nil {
			err = perr
			break
		}
		old := s.cfg.Age > 0 && now.UnixNano()-r.time > int64(s.cfg.Age)
		if bytes <= uint64(s.cfg.Size) && !old {
			break
		}
		for i := range r.runs {
			x := &r.runs[i]
			for j := range uint64(x.count) {
				err = errors.Join(err, b.Delete(x.feed.at(kindChunk, x.first+j), nil))
			}
		}
		err = errors.Join(err, b.Delete(it.Key(), nil))
		bytes -= min(r.bytes, bytes)
		oldest = binary.BigEndian.Uint64(it.Key()[1:]) + 1
		n++
	}
	err = errors.Join(err, it.Close())
	if err == nil && n > 0 {
		err = b.Commit(pebble.NoSync)
	}
	if err = errors.Join(err, b.Close()); err != nil {
		return false, fmt.Errorf("retain: evict: %w", err)
	}
	s.bytes, s.oldest = bytes, oldest
	return n == dropBatch, nil
}
