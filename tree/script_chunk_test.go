package tree_test

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// chunk makes a chunk of "owner/index" or, where ids are no feed's,
// "owner/name". Its content is data=, its signature sig=, and form= says how a
// feed's id travels.
func (s *script) chunk(chunk tree.ChunkID, name string, a *args) (*wire.Broadcast, error) {
	who, which, _ := strings.Cut(name, "/")
	data := a.by["data"]
	if data == "" {
		data = name
	}
	sig := a.by["sig"]
	if sig == "" {
		sig = "by-" + who + "-" + data
	}
	o, signature, span := owner(who), make([]byte, 65), make([]byte, 8)
	copy(signature, sig)
	binary.LittleEndian.PutUint64(span, uint64(len(data)))
	x := wire.Soc{Owner: o[:], Signature: signature, Span: span, Payload: []byte(data)}
	if s.binding == wire.BindingFeedTopic {
		n, err := strconv.ParseUint(which, 10, 64)
		if err != nil {
			return nil, err
		}
		feedID := soc.FeedID(s.topic[:], n)
		x.ID, x.Index, x.HasIndex = feedID[:], n, true
	} else {
		n := node(which)
		if which == "topic" {
			n = wire.Overlay(s.topic)
		}
		x.ID = n[:]
	}
	switch a.by["form"] {
	case "bare":
		x.HasIndex = false
	case "slot":
		x.ID, x.HasIndex = binary.BigEndian.AppendUint64(make([]byte, 24), x.Index), false
	case "short":
		x.ID, x.HasIndex = binary.BigEndian.AppendUint64(nil, x.Index), false
	}
	if h := a.by["hint"]; h != "" {
		x.Index, _ = strconv.ParseUint(h, 10, 64)
	}
	switch a.by["cut"] {
	case "id":
		x.ID = x.ID[:20]
	case "owner":
		x.Owner = x.Owner[:19]
	case "sig":
		x.Signature = x.Signature[:64]
	case "span":
		x.Span = x.Span[:4]
	case "payload":
		x.Payload = nil
	}
	body := wire.AppendSoc(nil, &x)
	if n := a.num("unknown"); n > 0 {
		body = protowire.AppendTag(body, 200, protowire.BytesType)
		body = protowire.AppendBytes(body, make([]byte, n-4))
	}
	s.open[chunk] = sha256.Sum256([]byte(data))
	b := new(wire.Broadcast)
	return b, b.Parse(body)
}
