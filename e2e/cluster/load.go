package cluster

import (
	"context"
	"fmt"
	"net"
	"time"

	"treecast/wire/beef"
)

// A Load says how a load generator kept to its rate. Gaps at the consumers mean
// something only if it was not late itself.
type Load struct {
	Sent  int
	Start time.Time
	Late  time.Duration // the most that anything was sent behind its time
}

// Pace calls send total times, rate times a second on a grid that nothing shifts.
func Pace(ctx context.Context, rate float64, total int, send func(i int) error) (Load, error) {
	load := Load{Start: time.Now()}
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for i := range total {
		due := load.Start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if wait := time.Until(due); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return load, ctx.Err()
			}
		}
		if err := send(i); err != nil {
			return load, fmt.Errorf("cluster: load after %d: %w", i, err)
		}
		load.Sent++
		load.Late = max(load.Late, time.Since(due))
	}
	return load, ctx.Err()
}

// Submit sends the objects as submission records to the ingress at addr, rate a
// second, and waits until the door has taken all.
func Submit(ctx context.Context, addr, topic string, objects Objects, rate float64) (Load, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return Load{}, fmt.Errorf("cluster: load: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	var record []byte
	load, err := Pace(ctx, rate, len(objects), func(i int) (err error) {
		if record, err = beef.AppendRecord(record[:0], []string{topic}, objects[i]); err != nil {
			return err
		}
		_, err = conn.Write(record)
		return err
	})
	if err != nil {
		return load, err
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return load, fmt.Errorf("cluster: load: %w", err)
	}
	conn.Read(make([]byte, 1)) // raw doors answer nothing: the end says that all is settled
	return load, nil
}
