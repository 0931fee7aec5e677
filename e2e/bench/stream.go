package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multiaddr"
)

// rawID is the protocol of streams that carry frames which nobody looks at.
const rawID protocol.ID = "/bench/raw/1.0.0"

// readAhead is the buffer that a node has in front of a parent's stream.
const readAhead = 32 << 10

// partTime is how long a part is measured, after as long again as a start.
const partTime = 2 * time.Second

// measurePart runs one part as a process of its own and returns its CPU time a
// chunk, in microseconds. batch is how many chunks one write has. The other ends
// of its streams are in this process.
func measurePart(ctx context.Context, role string, batch int) (us float64, err error) {
	p, err := startPart(ctx, role)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	switch role {
	case "read":
		err = feed(ctx, p, batch, &wg)
	case "write":
		err = swallow(ctx, p, batch, &wg)
	}
	if err != nil {
		return 0, err
	}
	if err := sleepFor(ctx, partTime); err != nil {
		return 0, err
	}
	f, err := p.between(func() error { return sleepFor(ctx, partTime) })
	if err != nil {
		return 0, err
	}
	return f["cpu_us_per_chunk"], nil
}

// feed writes to the stream that the part reads.
func feed(ctx context.Context, p *part, batch int, wg *sync.WaitGroup) error {
	var addr string
	if err := p.receive(&addr); err != nil {
		return err
	}
	to, err := addrInfo(addr)
	if err != nil {
		return err
	}
	h, err := newSecpHost(&traffic{})
	if err != nil {
		return err
	}
	wg.Go(func() { <-ctx.Done(); h.Close() })
	if err := h.Connect(ctx, *to); err != nil {
		return fmt.Errorf("bench: dial: %w", err)
	}
	s, err := h.NewStream(ctx, to.ID, rawID)
	if err != nil {
		return fmt.Errorf("bench: stream: %w", err)
	}
	wg.Go(func() { writeFrames(s, batch, new(atomic.Uint64)) }) // ends when the host is closed
	return nil
}

// swallow reads the sixteen streams that the part writes.
func swallow(ctx context.Context, p *part, batch int, wg *sync.WaitGroup) error {
	var addrs []string
	for range relayChildren {
		h, err := newSecpHost(&traffic{})
		if err != nil {
			return err
		}
		wg.Go(func() { <-ctx.Done(); h.Close() })
		h.SetStreamHandler(rawID, func(s network.Stream) { readFrames(s, new(atomic.Uint64)) })
		addrs = append(addrs, fmt.Sprintf("%s/p2p/%s", h.Addrs()[0], h.ID()))
	}
	return p.send(append([]string{strconv.Itoa(batch)}, addrs...))
}

func addrInfo(addr string) (*peer.AddrInfo, error) {
	m, err := multiaddr.NewMultiaddr(addr)
	if err != nil {
		return nil, fmt.Errorf("bench: address: %w", err)
	}
	return peer.AddrInfoFromP2pAddr(m)
}

// writeFrames writes batches of frames until the stream ends.
func writeFrames(s network.Stream, batch int, count *atomic.Uint64) {
	data := arbitrary(batch * frameSize)
	for {
		if _, err := s.Write(data); err != nil {
			return
		}
		count.Add(uint64(batch))
	}
}

// readFrames reads frames, as a node does, until the stream ends.
func readFrames(s network.Stream, count *atomic.Uint64) {
	r := bufio.NewReaderSize(s, readAhead)
	frame := make([]byte, frameSize)
	for {
		if _, err := io.ReadFull(r, frame); err != nil {
			return
		}
		count.Add(1)
	}
}

func (c *conversation) count(n *atomic.Uint64) error {
	return c.marks(func() (mark, error) {
		cpu, err := cpuTime()
		return mark{At: time.Now(), CPU: cpu, Chunks: n.Load()}, err
	})
}

// roleRead reads frames from one stream.
func roleRead(c *conversation) error {
	h, err := newSecpHost(&traffic{})
	if err != nil {
		return err
	}
	defer h.Close()
	var n atomic.Uint64
	h.SetStreamHandler(rawID, func(s network.Stream) { readFrames(s, &n) })
	if err := c.send(fmt.Sprintf("%s/p2p/%s", h.Addrs()[0], h.ID())); err != nil {
		return err
	}
	return c.count(&n)
}

// roleWrite writes each frame to sixteen streams.
func roleWrite(ctx context.Context, c *conversation) error {
	var args []string
	if err := c.receive(&args); err != nil {
		return err
	}
	batch, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("bench: part: %w", err)
	}
	h, err := newSecpHost(&traffic{})
	if err != nil {
		return err
	}
	defer h.Close()
	var n atomic.Uint64
	for _, addr := range args[1:] {
		to, err := addrInfo(addr)
		if err != nil {
			return err
		}
		if err := h.Connect(ctx, *to); err != nil {
			return fmt.Errorf("bench: dial: %w", err)
		}
		s, err := h.NewStream(ctx, to.ID, rawID)
		if err != nil {
			return fmt.Errorf("bench: stream: %w", err)
		}
		go writeFrames(s, batch, &n) // ends when the host is closed
	}
	return c.marks(func() (mark, error) {
		cpu, err := cpuTime()
		return mark{At: time.Now(), CPU: cpu, Chunks: n.Load() / relayChildren}, err
	})
}
