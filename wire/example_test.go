package wire_test

import (
	"bytes"
	"fmt"

	"treecast/wire"
)

// A stream's first frame is written, read and recognised.
func ExampleParseFirst() {
	subscribe := wire.Subscribe{Topic: wire.Topic{0xbe, 0xef}, Relays: true, Version: 1}
	stream := wire.AppendFrame(nil, subscribe.Append(nil))

	r := wire.NewReader(bytes.NewReader(stream), wire.NewPool())
	frame, err := r.Next()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer frame.Release()
	first, err := wire.ParseFirst(frame.Msg())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d bytes ask for topic %s\n", len(frame.Frame()), first.Subscribe.Topic)
	// Output: 41 bytes ask for topic beef000000000000000000000000000000000000000000000000000000000000
}
