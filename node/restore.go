package node

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"treecast/node/retain"
	"treecast/node/retain/order"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// retainDir is where the store of chunks lies in the data directory.
const retainDir = "retain"

// openRetained opens the store of chunks, if there is to be one.
func (n *Node) openRetained() (err error) {
	r := &n.cfg.Retain
	if r.Size <= 0 {
		return nil
	}
	dir := filepath.Join(n.cfg.DataDir, retainDir)
	n.retained, err = retain.OpenStore(retain.StoreConfig{
		Dir: dir, Size: r.Size, Age: r.Age, Log: n.log,
	})
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	if n.positions, err = retain.OpenPositions(retain.PositionsConfig{Dir: dir, Log: n.log}); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	return nil
}

// Positions are where those who follow cohorts by name have come to; nil if nothing
// is kept in a store. They are open until the node is closed.
func (n *Node) Positions() *retain.Positions { return n.positions }

// restored is where a cohort's feeds stood before a restart.
type restored struct {
	feeds  []order.Restore
	chunks []Message // kept, but neither shown nor skipped yet; one reference each
	voids  []order.Void
	known  []wire.Head
}

// maxRestored bounds the chunks of a feed that are shown again after a restart
// that came before they were noted as shown.
const maxRestored = 4096

// restore reads that from the store and the index blocks.
func (n *Node) restore(topic wire.Topic, log *retain.Log) (r restored, err error) {
	last := make(map[wire.Owner]uint64)
	if n.retained != nil {
		feeds, err := n.retained.Feeds(topic)
		if err != nil {
			return r, fmt.Errorf("node: restore %v: %w", topic, err)
		}
		for _, f := range feeds {
			last[f.Owner] = f.Last
			next := f.Last + 1
			if f.Marked {
				next = f.Next
			}
			if f.Last >= maxRestored && next <= f.Last-maxRestored {
				next = f.Last - maxRestored + 1
			}
			low := next
			if len(f.Open) > 0 { // whoever follows the feed waits for it, as before
				low = min(low, f.Open[0].From)
				log.Passed(f.Owner, low, false)
			}
			r.feeds = append(r.feeds, order.Restore{Owner: f.Owner, Next: next, Open: f.Open})
			log.Settle(f.Owner, low, next, 0)
			r.known = append(r.known, wire.Head{Owner: f.Owner, Index: f.Last})
			if next <= f.Last {
				if r.chunks, err = n.stored(r.chunks, topic, log, f.Owner, next, f.Last); err != nil {
					return r, err
				}
			}
		}
	}
	blocks, err := n.store.blocks(topic)
	if err != nil {
		return r, err
	}
	for _, b := range blocks {
		r.known = append(r.known, wire.Head{Owner: b.owner, Index: b.end - 1})
		if index, ok := last[b.owner]; ok && index+1 < b.end {
			r.voids = append(r.voids, order.Void{Owner: b.owner, Range: wire.IndexRange{From: index + 1, To: b.end - 1}})
		}
	}
	return r, nil
}

// stored appends the chunks of a feed that are kept, as messages.
func (n *Node) stored(dst []Message, topic wire.Topic, log *retain.Log, owner wire.Owner, from, to uint64) ([]Message, error) {
	var p retain.Page
	for from <= to {
		next, err := log.Read(owner, from, to, &p)
		if err != nil {
			return dst, fmt.Errorf("node: restore %v: %w", topic, err)
		}
		for _, c := range p.Chunks {
			buf := n.pool.Frame(c.Msg)
			var b wire.Broadcast
			if err := b.Parse(buf.Msg()); err != nil || b.Kind != wire.KindSoc {
				buf.Release()
				n.log.Error("kept chunk does not decode", "topic", topic.String(), "index", c.Index, "err", err)
				continue
			}
			dst = append(dst, Message{
				ID: soc.FeedID(topic[:], c.Index), Owner: owner, Index: c.Index, HasIndex: true,
				Span: b.Soc.Span, Payload: b.Soc.Payload, Signature: b.Soc.Signature, buf: buf,
			})
		}
		from = next
	}
	return dst, nil
}

// restore has the cohort go on where it stood; the loop's first task.
func (l *loop) restore(r *restored) {
	l.known = r.known
	if len(l.known) > 0 {
		l.step(tree.Known{Heads: l.known})
	}
	for _, f := range r.feeds {
		if len(f.Open) > 0 { // as the log was told
			l.passed = append(l.passed, passed{f.Owner, f.Open[0].From})
		}
		l.inOrder(f)
	}
	for _, m := range r.chunks {
		l.arrive(m, wire.Overlay{}, true)
	}
	for _, v := range r.voids {
		l.log.AddVoid(v.Owner, v.Range)
		l.inOrder(v)
	}
}

// ownBlock is an index block of one of this node's publishers.
type ownBlock struct {
	owner wire.Owner
	end   uint64 // exclusive, above 0
}

// blocks are the index blocks of a topic, by owner. One that cannot be read is
// left out: its publisher meets the fault.
func (s *store) blocks(topic wire.Topic) (list []ownBlock, err error) {
	if s.dir == "" {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(s.dir, indexDir, topic.String()+"-*"))
	if err != nil {
		return nil, fmt.Errorf("node: index blocks: %w", err)
	}
	for _, name := range names {
		_, owner, _ := strings.Cut(filepath.Base(name), "-")
		data, err := os.ReadFile(name)
		if err != nil {
			continue // whoever publishes is told
		}
		end, err := parseBlock(data)
		key, kerr := hex.DecodeString(owner)
		if err != nil || kerr != nil || len(key) != len(wire.Owner{}) || end == 0 {
			continue
		}
		list = append(list, ownBlock{wire.Owner(key), end})
	}
	return list, nil
}
