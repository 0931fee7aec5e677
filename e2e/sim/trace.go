package sim

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"

	"treecast/tree"
)

// trace hashes every action in order, and writes a line for each event if
// somebody wants them.
type trace struct {
	sum hash.Hash
	buf []byte
	out *bufio.Writer
}

func newTrace(w io.Writer) *trace {
	t := &trace{sum: sha256.New(), buf: make([]byte, 0, 1<<16)}
	if w != nil {
		t.out = bufio.NewWriterSize(w, 1<<16)
	}
	return t
}

// action adds one action of node i at time now.
func (t *trace) action(now int64, i int32, a *tree.Action) {
	b := t.buf
	b = binary.AppendUvarint(b, uint64(now))
	b = binary.AppendUvarint(b, uint64(i))
	b = append(b, byte(a.Kind), byte(a.Code), byte(a.Receipt))
	b = binary.AppendUvarint(b, uint64(a.Stream))
	b = binary.AppendUvarint(b, uint64(a.Chunk))
	b = binary.AppendUvarint(b, uint64(a.Request))
	b = binary.AppendUvarint(b, a.Index)
	b = append(b, a.Peer[:8]...)
	b = append(b, a.Body...)
	if a.Dial != nil {
		b = binary.AppendUvarint(b, uint64(a.Dial.ID))
		b = append(b, a.Dial.Body...)
	}
	if a.Report != nil {
		b = append(b, byte(a.Report.Kind), byte(a.Report.Status), byte(a.Report.Parents))
		b = append(b, a.Report.Peer[:]...)
	}
	if len(b) >= 1<<15 {
		t.sum.Write(b)
		b = b[:0]
	}
	t.buf = b
	if t.out != nil {
		fmt.Fprintf(t.out, "%.6f\t%d\t  > %s\tstream=%d body=%d\n", float64(now)/1e9, i, actionNames[a.Kind], a.Stream, len(a.Body))
	}
}

// event writes what node i is told.
func (t *trace) event(now int64, i int32, ev tree.Event) {
	if t.out == nil {
		return
	}
	fmt.Fprintf(t.out, "%.6f\t%d\t%s\n", float64(now)/1e9, i, describe(ev))
}

// note writes what happens to a node without its being told.
func (t *trace) note(now int64, i int32, what string) {
	if t.out != nil {
		fmt.Fprintf(t.out, "%.6f\t%d\t%s\n", float64(now)/1e9, i, what)
	}
}

// hash ends the trace.
func (t *trace) hash() (string, error) {
	t.sum.Write(t.buf)
	t.buf = t.buf[:0]
	var err error
	if t.out != nil {
		err = t.out.Flush()
	}
	return hex.EncodeToString(t.sum.Sum(nil)), err
}

// describe puts an event in a few words.
func describe(ev tree.Event) string {
	switch ev := ev.(type) {
	case *tree.Frame:
		return fmt.Sprintf("frame %v stream=%d", ev.Msg.Kind, ev.Stream)
	case *tree.SubscribeIn:
		return fmt.Sprintf("subscribe from=%x band=%d named=%v stream=%d", ev.Peer[24:], ev.Msg.Band, ev.Msg.Named, ev.Stream)
	case *tree.Dialled:
		if ev.Ack != nil {
			return fmt.Sprintf("ack %v candidates=%d stream=%d", ev.Ack.Status, len(ev.Ack.Candidates), ev.Stream)
		}
		return fmt.Sprintf("dial failed outcome=%d", ev.Outcome)
	case tree.StreamEnded:
		return fmt.Sprintf("ended stream=%d cause=%d", ev.Stream, ev.Cause)
	case *tree.Publish:
		return fmt.Sprintf("publish chunk=%d", ev.Request-1)
	}
	return strings.ToLower(strings.TrimLeft(fmt.Sprintf("%T", ev), "*tre."))
}

// actionNames name the kinds of actions in a trace.
var actionNames = [...]string{
	tree.ActSend: "send", tree.ActForward: "forward", tree.ActVerify: "verify", tree.ActDeliver: "deliver",
	tree.ActRelease: "release", tree.ActDial: "dial", tree.ActCancel: "cancel", tree.ActEnd: "end",
	tree.ActBlame: "blame", tree.ActBlock: "block", tree.ActReceipt: "receipt", tree.ActPace: "pace", tree.ActReport: "report",
}
