package node_test

import (
	"context"
	"testing"

	"treecast/node"
	"treecast/wire/soc"
)

// BenchmarkChain publishes full chunks at a broker, over a relay to a leaf, as
// fast as receipts come. The figures are those of all three nodes, signing
// included.
func BenchmarkChain(b *testing.B) {
	key := newKey(b)
	spec := feed("bench", key)
	cfg := node.Config{Listen: []string{loopbackTCP}, PublishRate: -1}
	broker, relay, leaf := start(b, cfg), start(b, cfg), start(b, cfg)
	top := open(b, broker, spec, 0)
	middle := join(b, relay, broker, spec.Topic, 0)
	attached(b, middle, 1)
	bottom := join(b, leaf, relay, spec.Topic, -1)
	attached(b, bottom, 1)
	sub := subscribe(b, bottom)
	defer sub.Close()
	pub, err := top.Publisher(key)
	if err != nil {
		b.Fatal(err)
	}
	defer pub.Close()
	data := make([]byte, soc.MaxPayload)
	room := make(chan struct{}, 4096) // less than a queue holds
	b.SetBytes(soc.MaxPayload)
	b.ReportAllocs()
	go func() {
		for range b.N {
			room <- struct{}{}
			index, err := pub.Reserve(1)
			if err != nil {
				b.Error(err)
				return
			}
			pub.PublishAtAsync(index, data, func(err error) {
				if err != nil {
					b.Error(err)
				}
			})
		}
	}()
	b.ResetTimer()
	for range b.N {
		m, err := sub.Next(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		m.Release()
		<-room
	}
}
