package explain

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"treecast/wire/beef"
)

// record lays out one submission record and judges it as the door of an ingress
// does (PROTOCOL §7 Layouts, Ingress doors).
func (l *layout) record() {
	l.unit.Kind = "submission record"
	start := l.pos
	names := l.recordFields()
	end := l.pos
	if l.fault != nil {
		end = len(l.data)
	}
	s, err := beef.ParseSubmission(l.data[start:end], 0)
	l.judge(start, err)
	if err != nil {
		return
	}
	id := s.Frame.ContentID
	l.derive("ContentID", "%x", id)
	for i, name := range names {
		l.derive("TopicID", "%s of %q", beef.TopicIDOf(name), name)
		if i == 0 {
			l.derive("pair key", "%x", beef.PairKey(id, beef.TopicIDOf(name)))
			l.group(beef.TopicIDOf(name))
		}
	}
}

// recordFields walks over a record's fields, permissively: whether they are
// right is the judge's to say. It returns the topic names.
func (l *layout) recordFields() (names []string) {
	l.take("tag", 2)
	if b, ok := l.take("record version", 1); ok {
		l.say("%d", b[0])
	}
	count := 0
	if b, ok := l.take("topic count", 1); ok {
		count = int(b[0])
		l.say("%d", count)
	}
	for range count {
		size, ok := l.take("name length", 1)
		if !ok {
			return names
		}
		l.say("%d", size[0])
		name, ok := l.take("topic name", int(size[0]))
		if !ok {
			return names
		}
		l.say("%q", name)
		names = append(names, string(name))
	}
	if b, ok := l.take("object length", 4); ok {
		n := binary.BigEndian.Uint32(b)
		l.say("%d", n)
		l.object(int(n))
	}
	return names
}

// object lays out an object of n bytes: its marker and what is told without
// looking inside. The last field moves the position behind the object.
func (l *layout) object(n int) {
	start := l.pos
	if n > len(l.data)-start {
		l.take("object", n)
		return
	}
	if l.fault != nil {
		return
	}
	object := l.data[start : start+n]
	marker, _ := l.take("object marker", min(n, 4))
	version, ok := beef.MarkerOf(object)
	if !ok {
		l.fail(start, "bad_marker: %x is none of 0100beef, 0200beef, 01010101", marker)
		return
	}
	l.say("%x: %s", marker, versionText(version))
	if version == beef.VersionAtomic && n >= 36 {
		txid, _ := l.take("subject txid", 32)
		txid = slices.Clone(txid)
		slices.Reverse(txid) // shown as explorers show it
		l.say("%x", txid)
	}
	if rest := start + n - l.pos; rest > 0 {
		l.take("object body", rest)
	}
	l.derive("object SHA-256", "%x", sha256.Sum256(object))
}

func versionText(v beef.Version) string {
	switch v {
	case beef.VersionBEEF:
		return "BEEF V1"
	case beef.VersionBEEFV2:
		return "BEEF V2"
	case beef.VersionAtomic:
		return "Atomic BEEF"
	}
	return v.String()
}

// payload lays out n bytes that a frame or a delivery record carries: a record
// or a bare object.
func (l *layout) payload(n int) {
	if l.fault != nil {
		return
	}
	if n > len(l.data)-l.pos {
		l.take("payload", n)
		return
	}
	whole := l.data
	end := l.pos + n
	l.data = whole[:end]
	l.depth++
	if body := l.data[l.pos:]; len(body) >= 2 && body[0] == 0xBE && body[1] == 0xEF {
		l.recordFields()
	} else {
		l.object(n)
	}
	l.depth--
	l.data = whole
	l.pos = end
	l.unit.Length = end - l.unit.Offset
}

// delivery lays out one delivery record.
func (l *layout) delivery() {
	l.unit.Kind = "delivery record"
	start := l.pos
	l.take("TopicID", 32)
	if b, ok := l.take("payload length", 4); ok {
		n := int(binary.BigEndian.Uint32(b))
		l.say("%d", n)
		l.payload(n)
	}
	end := l.pos
	if l.fault != nil {
		end = len(l.data)
	}
	d, err := beef.ParseDelivery(l.data[start:end])
	l.judge(start, err)
	if err == nil {
		l.derive("ContentID", "%x", beef.ContentID(d.Payload))
	}
}
