package lane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// accept serves the consumers that connect.
func (e *Egress) accept() {
	for {
		nc, err := e.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: others may become free
			e.cfg.Log.Warn("accept failed", "door", "egress", "err", err)
			sleep(e.closing, acceptPause)
			continue
		}
		if err := e.enter(); err != nil {
			answer(nc, err)
			nc.Close()
			continue
		}
		go func() { // ends when the connection does; Close ends that and waits
			defer e.leave()
			defer nc.Close()
			e.consume(nc)
		}()
	}
}

// consume reads a consumer's election and streams to it.
func (e *Egress) consume(nc net.Conn) {
	w, err := e.elect(nc)
	if err != nil {
		e.refused.add(refusedElection)
		e.cfg.Log.Info("consumer refused", "remote", nc.RemoteAddr().String(), "err", err)
		answer(nc, err)
		linger(nc)
		return
	}
	e.stream(nc.RemoteAddr().String(), w, &tcpLane{nc: nc, wait: e.cfg.Limits.Write, halfClose: true, acks: w.ack})
}

// stream serves one consumer that connected, until its session ends.
func (e *Egress) stream(name string, w wish, s sink) {
	c := e.add(name, false, w)
	defer e.remove(c)
	e.cfg.Log.Info("lane open", "lane", c.name, "topics", len(w.election.Topics), "format", w.format.String(), "resume", w.resume)
	e.sessionEnded(c, c.session(s))
}

// enter counts a consumer that connected in, and into what Close waits for. The
// error is for the consumer.
func (e *Egress) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closing.Err() != nil:
		return errors.New("lane: this node is closing")
	case e.connected >= e.cfg.Limits.Consumers:
		e.refused.add(refusedConsumers)
		return fmt.Errorf("lane: %d consumers are connected", e.connected)
	}
	e.connected++
	e.wg.Add(1)
	return nil
}

func (e *Egress) leave() {
	e.mu.Lock()
	e.connected--
	e.mu.Unlock()
	e.wg.Done()
}

// elect reads the election line. Its errors are for the consumer.
func (e *Egress) elect(nc net.Conn) (w wish, err error) {
	defer context.AfterFunc(e.closing, func() { nc.SetReadDeadline(time.Now()) })()
	if err := nc.SetReadDeadline(time.Now().Add(e.cfg.Limits.Election)); err != nil {
		return w, err
	}
	line, err := readLine(nc)
	if err != nil {
		return w, err
	}
	r, err := ParseRequest(line)
	if err != nil {
		return w, err
	}
	if w, err = e.judge(&r); err != nil {
		return w, err
	}
	if err := nc.SetReadDeadline(time.Time{}); err != nil {
		return w, err
	}
	return w, e.follow(&w)
}

// readLine reads up to the first newline, or to the end of what the consumer
// sends. Bytes behind the newline are dropped: a consumer has nothing more to say.
func readLine(r io.Reader) ([]byte, error) {
	buf := make([]byte, 0, 512)
	for len(buf) < MaxRequest {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(2*cap(buf), MaxRequest)), buf...)
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		from := len(buf)
		buf = buf[:from+n]
		if at := bytes.IndexByte(buf[from:], '\n'); at >= 0 {
			return buf[:from+at], nil
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, fmt.Errorf("lane: election line: %w", err)
		}
	}
	return nil, fmt.Errorf("lane: election line: longer than %d bytes", MaxRequest)
}

// answerWait is what a refused consumer has to take the answer and go.
const answerWait = time.Second

// answer tells a consumer why it is refused, in one line of JSON.
func answer(nc net.Conn, reason error) {
	line, err := json.Marshal(struct {
		Error string `json:"error"`
	}{reason.Error()})
	if err != nil {
		return // a string always marshals
	}
	nc.SetWriteDeadline(time.Now().Add(answerWait))
	nc.Write(append(line, '\n')) // one that cannot be told is closed all the same
}

// linger lets an answer arrive: to close with bytes unread would reset the
// connection and destroy it.
func linger(nc net.Conn) {
	half, ok := nc.(*net.TCPConn)
	if !ok || half.CloseWrite() != nil {
		return
	}
	nc.SetReadDeadline(time.Now().Add(answerWait))
	io.Copy(io.Discard, io.LimitReader(nc, maxSurplus)) // whatever ends it, the next is to close
}
