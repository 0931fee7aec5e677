package retain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"treecast/wire"
)

// The journal of Positions is a row of changes, each
//
//	length 4 | CRC-32C of the rest 4 | kind 1 | name length 1 | name | rest
//
// in big endian, where length counts from the kind on and rest is, by kind:
//
//	1 name      when it was used last, Unix nanoseconds 8
//	2 forget
//	3 follow    topic 32
//	4 unfollow  topic 32
//	5 cursor    topic 32 | owner 20 | from 8 | next 8 | repeated hole: from 8, to 8
type change struct {
	kind   byte
	name   string
	used   time.Time
	topic  wire.Topic
	owner  wire.Owner
	cursor Cursor
}

const (
	changeName = iota + 1
	changeForget
	changeFollow
	changeUnfollow
	changeCursor
)

const (
	changeHead = 8
	// maxStored is the most holes of a cursor that is stored, far above what a reader
	// has: of more the lowest are left out. maxChange is the longest change.
	maxStored = 1 << 16
	maxChange = 2 + MaxName + feedBytes + 16 + 16*maxStored
	// minCompact is how long a journal gets at least before it is rewritten.
	minCompact = 1 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (c *change) append(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, changeHead)...)
	dst = append(dst, c.kind, byte(len(c.name)))
	dst = append(dst, c.name...)
	switch c.kind {
	case changeName:
		dst = binary.BigEndian.AppendUint64(dst, uint64(c.used.UnixNano()))
	case changeFollow, changeUnfollow:
		dst = append(dst, c.topic[:]...)
	case changeCursor:
		dst = append(dst, c.topic[:]...)
		dst = append(dst, c.owner[:]...)
		dst = binary.BigEndian.AppendUint64(dst, c.cursor.From)
		dst = binary.BigEndian.AppendUint64(dst, c.cursor.Next)
		for _, h := range c.cursor.Holes {
			dst = binary.BigEndian.AppendUint64(dst, h.From)
			dst = binary.BigEndian.AppendUint64(dst, h.To)
		}
	}
	body := dst[at+changeHead:]
	binary.BigEndian.PutUint32(dst[at:], uint32(len(body)))
	binary.BigEndian.PutUint32(dst[at+4:], crc32.Checksum(body, castagnoli))
	return dst
}

var errChange = errors.New("retain: no change of a position")

// parseChange reads the change at the front of b and returns its length.
func parseChange(b []byte) (c change, n int, err error) {
	if len(b) < changeHead {
		return c, 0, errChange
	}
	length := int(binary.BigEndian.Uint32(b))
	if length < 2 || length > maxChange || len(b) < changeHead+length {
		return c, 0, errChange
	}
	body := b[changeHead : changeHead+length]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(b[4:]) {
		return c, 0, errChange
	}
	c.kind = body[0]
	name := int(body[1])
	if name == 0 || name > MaxName || len(body) < 2+name {
		return c, 0, errChange
	}
	c.name = string(body[2 : 2+name])
	if err := c.parseRest(body[2+name:]); err != nil {
		return c, 0, err
	}
	return c, changeHead + length, nil
}

func (c *change) parseRest(b []byte) error {
	switch {
	case c.kind == changeName && len(b) == 8:
		c.used = time.Unix(0, int64(binary.BigEndian.Uint64(b)))
	case c.kind == changeForget && len(b) == 0:
	case (c.kind == changeFollow || c.kind == changeUnfollow) && len(b) == len(c.topic):
		copy(c.topic[:], b)
	case c.kind == changeCursor && len(b) >= feedBytes+16 && (len(b)-feedBytes)%16 == 0:
		copy(c.topic[:], b)
		copy(c.owner[:], b[len(c.topic):])
		b = b[feedBytes:]
		c.cursor.From, c.cursor.Next = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
		for b = b[16:]; len(b) > 0; b = b[16:] {
			h := wire.IndexRange{From: binary.BigEndian.Uint64(b), To: binary.BigEndian.Uint64(b[8:])}
			if n := len(c.cursor.Holes); h.From > h.To || h.To >= c.cursor.Next || n > 0 && h.From <= c.cursor.Holes[n-1].To {
				return errChange
			}
			c.cursor.Holes = append(c.cursor.Holes, h)
		}
	default:
		return errChange
	}
	return nil
}

// apply makes a change that was read.
func (p *Positions) apply(c *change) {
	x := p.names[c.name]
	switch {
	case c.kind == changeName:
		if x == nil {
			x = &position{topics: make(map[wire.Topic]map[wire.Owner]Cursor)}
			p.names[c.name] = x
		}
		x.used = c.used
	case x == nil:
	case c.kind == changeForget:
		delete(p.names, c.name)
	case c.kind == changeFollow:
		x.topics[c.topic] = make(map[wire.Owner]Cursor)
	case c.kind == changeUnfollow:
		delete(x.topics, c.topic)
	case c.kind == changeCursor && x.topics[c.topic] != nil:
		x.topics[c.topic][c.owner] = c.cursor
	}
}

// load reads the journal up to where it is torn.
func (p *Positions) load() error {
	f, err := p.cfg.FS.Open(p.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("retain: positions: %w", err)
	}
	b, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("retain: positions: %w", err)
	}
	for len(b) > 0 {
		c, n, err := parseChange(b)
		if err != nil {
			p.cfg.Log.Warn("positions: the end of the journal is torn and cut off", "bytes", len(b))
			return nil
		}
		p.apply(&c)
		b = b[n:]
	}
	return nil
}

// write appends a change to the journal; called under mu. One that cannot be
// written is tried again with the next, as part of the whole.
func (p *Positions) write(c change) {
	if p.closed || p.compact == 0 { // closed, or not open yet
		return
	}
	p.buf = c.append(p.buf[:0])
	err := p.put(p.buf)
	if err == nil {
		p.failed = false
		return
	}
	if !p.failed { // once, not with every change
		p.failed = true
		p.cfg.Log.Error("positions not stored: they are in memory alone", "err", err)
	}
}

func (p *Positions) put(b []byte) error {
	if p.file == nil || p.size+int64(len(b)) > p.compact {
		return p.rewrite() // which has the change
	}
	n, err := p.file.Write(b)
	p.size += int64(n)
	p.dirty = true
	if err != nil { // what follows a torn change could not be read
		p.drop()
		return fmt.Errorf("retain: positions: %w", err)
	}
	return nil
}

// drop gives up the journal that is open.
func (p *Positions) drop() {
	p.file.Close() // it is of no use any more, whatever this says
	p.file = nil
}

// rewrite puts a new journal, with what holds now, in the place of the old one.
func (p *Positions) rewrite() error {
	b := p.all()
	temp := p.path() + ".new"
	f, err := p.cfg.FS.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("retain: positions: %w", err)
	}
	if err = p.install(f, temp, b); err != nil {
		return errors.Join(fmt.Errorf("retain: positions: %w", err), f.Close())
	}
	if p.file != nil {
		p.drop()
	}
	p.file, p.size, p.dirty = f, int64(len(b)), false
	p.compact = max(minCompact, 4*p.size)
	return nil
}

func (p *Positions) install(f vfs.File, temp string, b []byte) error {
	if _, err := f.Write(b); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := p.cfg.FS.Rename(temp, p.path()); err != nil {
		return err
	}
	return p.syncDir(p.cfg.Dir)
}

// syncDir has the names in a directory survive the end of the machine.
func (p *Positions) syncDir(name string) error {
	dir, err := p.cfg.FS.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// all is the journal of what holds now.
func (p *Positions) all() (b []byte) {
	for name, x := range p.names {
		c := change{kind: changeName, name: name, used: x.used}
		b = c.append(b)
		for topic, feeds := range x.topics {
			c = change{kind: changeFollow, name: name, topic: topic}
			b = c.append(b)
			for owner, cursor := range feeds {
				c = change{kind: changeCursor, name: name, topic: topic, owner: owner, cursor: cursor}
				b = c.append(b)
			}
		}
	}
	return b
}

// Sync returns when all that was put would survive the end of the machine.
func (p *Positions) Sync() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	err := p.sync()
	if err != nil && !p.failed {
		p.failed = true
		p.cfg.Log.Error("positions not synced", "err", err)
	}
	return err
}

// sync does; called under mu, which it lets go meanwhile.
func (p *Positions) sync() error {
	if p.file == nil {
		return p.rewrite()
	}
	if !p.dirty {
		return nil
	}
	f := p.file
	p.dirty = false
	p.mu.Unlock()
	err := f.SyncData()
	p.mu.Lock()
	if err == nil || p.file != f { // that was synced when it took the place of f
		return nil
	}
	p.drop()
	return fmt.Errorf("retain: positions: %w", err)
}

// Close syncs and closes the journal. Twice is fine.
func (p *Positions) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	close(p.stop)
	err := p.sync()
	p.mu.Unlock()
	p.wg.Wait()
	p.mu.Lock()
	if p.file != nil {
		err = errors.Join(err, p.file.Close())
		p.file = nil
	}
	return err
}
