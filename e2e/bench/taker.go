package main

import (
	"bufio"
	"context"
	"fmt"

	"treecast/node"
	"treecast/wire"
)

// join makes the host a child of the node at addr that takes what comes and checks
// nothing: what a child does with a chunk is not what a relay costs, and on a
// machine of two CPUs sixteen that check leave the relay idle most of the time. take
// is called with each chunk's payload.
func (h *meteredHost) join(ctx context.Context, addr string, topic wire.Topic, take func(payload []byte)) error {
	to, err := addrInfo(addr)
	if err != nil {
		return err
	}
	if err := h.Connect(ctx, *to); err != nil {
		return fmt.Errorf("bench: dial: %w", err)
	}
	s, err := h.NewStream(ctx, to.ID, node.ProtocolID)
	if err != nil {
		return fmt.Errorf("bench: stream: %w", err)
	}
	sub := wire.Subscribe{Topic: topic, HasBand: true, Childless: true, Named: true, Version: 1}
	if _, err := s.Write(wire.AppendFrame(nil, sub.Append(nil))); err != nil {
		return fmt.Errorf("bench: subscribe: %w", err)
	}
	in := wire.NewReader(bufio.NewReaderSize(s, readAhead), wire.NewPool())
	first, err := in.Next()
	if err != nil {
		return fmt.Errorf("bench: subscribe: %w", err)
	}
	ack, err := wire.ParseAck(first.Msg())
	first.Release()
	if err != nil {
		return fmt.Errorf("bench: subscribe: %w", err)
	}
	if ack.Status != wire.StatusOK {
		return fmt.Errorf("bench: subscribe: %v", ack.Status)
	}
	go func() { // ends with the host
		var m wire.Broadcast
		for {
			buf, err := in.Next()
			if err != nil {
				return
			}
			if m.Parse(buf.Msg()) == nil && m.Kind == wire.KindSoc {
				take(m.Soc.Payload)
			}
			buf.Release()
		}
	}()
	return nil
}
