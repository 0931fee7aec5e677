package node_test

import (
	"context"
	"fmt"
	"log"

	"treecast/node"
	"treecast/wire"
	"treecast/wire/soc"
)

// A broker opens a cohort for one publisher's feed, another node joins it, and a
// payload travels from one to the other.
func Example() {
	listen := node.Config{Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	broker, err := node.New(listen)
	if err != nil {
		log.Fatal(err)
	}
	defer broker.Close()
	member, err := node.New(listen)
	if err != nil {
		log.Fatal(err)
	}
	defer member.Close()

	ctx := context.Background()
	key, err := broker.PublisherKey()
	if err != nil {
		log.Fatal(err)
	}
	admin := key.Owner()
	top, err := broker.Open(wire.Spec{
		Topic:   soc.Keccak256([]byte("greetings")),
		Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: admin[:],
	})
	if err != nil {
		log.Fatal(err)
	}
	cohort, err := member.Join(node.CohortOptions{Topic: top.Topic(), Entries: broker.Addrs()})
	if err != nil {
		log.Fatal(err)
	}
	messages, err := cohort.Subscribe(node.SubscribeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := cohort.WaitAttached(ctx, 1); err != nil {
		log.Fatal(err)
	}

	publisher, err := top.Publisher(key)
	if err != nil {
		log.Fatal(err)
	}
	defer publisher.Close()
	if _, err := publisher.Publish(ctx, []byte("hello, tree")); err != nil {
		log.Fatal(err)
	}
	message, err := messages.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer message.Release()
	fmt.Printf("%d: %s\n", message.Index, message.Payload)
	// Output: 0: hello, tree
}
