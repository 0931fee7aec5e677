package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"treecast/e2e/cluster"
)

// payloads are n different ones, from the smallest to the largest.
func payloads(t *testing.T, n int) [][]byte {
	seed := rand.Uint64()
	t.Logf("payload seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	list := make([][]byte, n)
	for i := range list {
		size := 8 + i*(4096-8)/(n-1)
		list[i] = fmt.Appendf(make([]byte, 0, size), "%08d", i)
		for len(list[i]) < size {
			list[i] = append(list[i], byte(rng.Uint32()))
		}
	}
	return list
}

var transports = map[string]string{
	"tcp":  "/ip4/127.0.0.1/tcp/0",
	"quic": "/ip4/127.0.0.1/udp/0/quic-v1",
}

func TestChunksReachRelayAndLeaf(t *testing.T) {
	for name, addr := range transports {
		t.Run(name, func(t *testing.T) {
			c := cluster.New(t, addr, 3)
			relay := c.Join(t, c.Broker(), 3)
			c.AwaitSettled(t)
			leaf := c.Join(t, relay, -1)
			c.AwaitSettled(t)
			if v := leaf.View(); len(v.Parents) == 0 || len(v.Children) != 0 || v.Capacity > 0 {
				t.Fatalf("leaf %+v", v)
			}
			if err := cluster.CheckRest(c.Views()); err != nil {
				t.Error(err)
			}
			p := payloads(t, 100)
			c.Publish(t, p)
			c.AwaitAll(t, p)
		})
	}
}

func TestTreeHealsAroundACutRelay(t *testing.T) {
	c := cluster.New(t, transports["tcp"], 3)
	for range 6 {
		c.Join(t, c.Broker(), 4)
		c.AwaitSettled(t)
	}
	c.Join(t, c.Broker(), -1)
	c.Join(t, c.Broker(), -1)
	c.AwaitSettled(t)
	if err := cluster.CheckRest(c.Views()); err != nil {
		t.Fatal(err)
	}
	p := payloads(t, 120)
	c.Publish(t, p[:60])
	c.AwaitAll(t, p[:60])
	victim := c.Nodes[1]
	if n := len(victim.View().Children); n == 0 {
		t.Fatal("the first relay has no children")
	}
	c.Cut(t, victim)
	c.Publish(t, p[60:])
	c.AwaitAll(t, p)
	c.AwaitRest(t)
}
