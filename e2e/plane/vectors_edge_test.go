package plane_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"treecast/e2e/cluster"
	"treecast/node"
	"treecast/wire"
	"treecast/wire/beef"
	"treecast/wire/soc"
)

type deliveryVector struct {
	ID             string
	PayloadRef     string   `json:"payload_ref"`
	HeaderTopicID  hexed    `json:"header_topic_id"`
	DeliverCount   uint8    `json:"deliver_count"`
	ElectedTopics  []string `json:"elected_topics"`
	ElectedVersion []string `json:"elected_versions"`
	Delivered      bool
	Record         hexed
}

// source is a broker in this process that publishes whatever bytes a test wants to
// see an edge make something of.
type source struct {
	*node.Node
	publisher *node.Publisher
	sent      uint32 // sentinels
}

func newSource(t *testing.T) *source {
	t.Helper()
	n, err := node.New(node.Config{Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Capacity: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	owner := key.Owner()
	c, err := n.Open(wire.Spec{
		Topic: beef.CohortTopic(beef.BaseGroup), Binding: wire.BindingFeedTopic,
		Regime: wire.RegimeExplicitSingle, Admin: owner[:],
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return &source{Node: n, publisher: p}
}

// edge starts the built binary below the source.
func (s *source) edge(t *testing.T) *cluster.Daemon {
	t.Helper()
	e := cluster.StartNode(t, treecast, "edge", "--join", "beef@"+s.Addrs()[0].String(), "--capacity", "0",
		"--object-max", "1048576", "--egress-listen", "127.0.0.1:0", "--log-level", "error")
	e.AwaitReady(t)
	return e
}

func (s *source) publish(t *testing.T, payload []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := s.publisher.Publish(ctx, payload); err != nil {
		t.Fatal(err)
	}
}

// sentinelTopic is elected beside what a vector elects, so that something comes
// where nothing of the vector does.
const sentinelTopic = "tm_sentinel"

// sentinel publishes an object with that marker under the topic and returns its
// payload, which comes behind whatever was published before.
func (s *source) sentinel(t *testing.T, marker string) []byte {
	t.Helper()
	s.sent++
	object, err := hex.DecodeString(marker)
	if err != nil {
		t.Fatal(err)
	}
	object = binary.BigEndian.AppendUint32(object, s.sent)
	rec := append([]byte{0xBE, 0xEF, 1, 1, byte(len(sentinelTopic))}, sentinelTopic...)
	rec = append(append(rec, 0, 0, 0, byte(len(object))), object...)
	topic := beef.TopicIDOf(sentinelTopic)
	s.publish(t, frameOf(topic[:], 1, rec))
	return rec
}

// frameOf is an object frame.
func frameOf(topic []byte, deliverCount byte, payload []byte) []byte {
	b := []byte{0xE3, 0xE1, 0xF3, 0xE8, 0x02, 0xBF, 9, deliverCount}
	b = append(b, doubleSHA(payload)...)
	b = append(b, make([]byte, 16)...)
	b = append(b, topic...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(b, payload...)
}

// versionNames are what the vectors name by their markers.
var versionNames = map[string]string{"0100beef": "beef", "0200beef": "beefv2", "01010101": "atomic"}

// testDeliveries publishes what each vector has in the tree, and looks at what an
// edge gives a consumer with the vector's election, on every kind of lane.
func testDeliveries(t *testing.T, v *vectors, l ledger) {
	s := newSource(t)
	edge := s.edge(t)
	for name, open := range lanes {
		t.Run(name, func(t *testing.T) {
			for i := range v.Delivery.Items {
				x := &v.Delivery.Items[i]
				t.Run(x.ID, func(t *testing.T) { deliver(t, v, s, x, func(e *election) io.Reader { return open(t, edge, e) }) })
				l.hit("delivery_records.items", i)
			}
		})
	}
	t.Run("stream_two_records", func(t *testing.T) {
		r := lanes["tcp"](t, edge, &election{Topics: []string{"tm_ship"}})
		for _, id := range []string{"one_topic_small", "three_topics_small"} {
			x := v.record(t, id)
			s.publish(t, frameOf(x.TopicID, 3, x.Record))
		}
		got := append(readRecord(t, r), readRecord(t, r)...)
		if !bytes.Equal(got, v.Delivery.Stream.Hex) {
			t.Errorf("stream %x", got)
		}
	})
}

// deliver publishes one vector and reads what a lane brings of it.
func deliver(t *testing.T, v *vectors, s *source, x *deliveryVector, open func(*election) io.Reader) {
	e, marker := &election{}, "0100beef"
	if x.ElectedTopics != nil {
		e.Topics = append(e.Topics, x.ElectedTopics...)
		e.Topics = append(e.Topics, sentinelTopic)
	}
	for _, m := range x.ElectedVersion {
		e.Versions, marker = append(e.Versions, versionNames[m]), m
	}
	r := open(e)
	var payload []byte
	if object, bare := strings.CutPrefix(x.PayloadRef, "object "); bare {
		payload = v.object(t, object)
	} else {
		payload = v.record(t, x.PayloadRef).Record
	}
	s.publish(t, frameOf(x.HeaderTopicID, x.DeliverCount, payload))
	behind := s.sentinel(t, marker)
	if x.Delivered {
		if got := readRecord(t, r); !bytes.Equal(got, x.Record) {
			t.Fatalf("record\n got %x\nwant %x", got, []byte(x.Record))
		}
	}
	if got := readRecord(t, r); !bytes.Equal(got[36:], behind) {
		t.Fatalf("got %x, want the sentinel: the vector's is to come %v", got, x.Delivered)
	}
}
