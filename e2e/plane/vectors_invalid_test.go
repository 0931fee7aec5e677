package plane_test

import (
	"bytes"
	"net"
	"strings"
	"testing"
)

// verdict is what has to become of the bytes of one connection.
type verdict struct {
	units    []unit
	rejected []string // reasons, the connection kept
	closed   string   // reason; empty: the connection is kept
	atEnd    bool     // it is kept until the publisher has ended, then closed
}

// judge has bytes sent to a TCP door and holds the door to the verdict. framed says
// what else may follow on the connection.
func (d *doorway) judge(t *testing.T, door string, framed bool, want verdict, send func(net.Conn)) {
	t.Helper()
	payloads := make([][]byte, len(want.units))
	for i, u := range want.units {
		payloads[i] = u.payload
	}
	d.fresh(t, payloads...)
	before := d.counts(t)
	other := d.dial(t, shared) // is not touched by what happens beside it
	nc := d.dial(t, door)
	send(nc)
	for _, u := range want.units {
		d.expect(t, u)
	}
	reasons := []string{}
	for _, r := range want.rejected {
		reasons = append(reasons, "rejected/"+r)
	}
	switch {
	case want.closed == "": // what is sent next goes through
		next, out := d.sentinel(t, framed)
		write(t, nc, next)
		d.expect(t, out)
		nc.(*net.TCPConn).CloseWrite()
	case want.atEnd:
		staysOpen(t, nc)
		nc.(*net.TCPConn).CloseWrite()
	}
	awaitClose(t, nc)
	if want.closed != "" {
		reasons = append(reasons, "closed/"+want.closed)
	}
	d.counted(t, before, reasons...)
	next, out := d.sentinel(t, false)
	write(t, other, next)
	d.expect(t, out)
	other.Close()
}

// datagram sends one datagram and checks that it is dropped or rejected, counted,
// and the next one taken.
func (d *doorway) datagram(t *testing.T, b []byte, want ...string) {
	t.Helper()
	before := d.counts(t)
	nc := d.dial(t, udp)
	write(t, nc, b)
	next, out := d.sentinel(t, false)
	write(t, nc, next)
	d.expect(t, out)
	d.counted(t, before, want...)
	nc.Close()
}

// small is the one record that the invalid ones are made of.
func (d *doorway) small(t *testing.T) unit {
	r := d.v.record(t, "one_topic_small")
	return unit{r.Frames["1"].Header, r.Record}
}

// testDetect sends what connections may begin with.
func testDetect(t *testing.T, v *vectors, l ledger) {
	d := newDoorway(t, v, "127.0.0.1")
	for i := range v.Detect.Items {
		item := &v.Detect.Items[i]
		t.Run(item.ID, func(t *testing.T) {
			want := verdict{closed: "truncated", atEnd: true}
			dropped := "dropped/truncated"
			if item.Grammar == "bare_tx" {
				want, dropped = verdict{closed: "bare_tx"}, "dropped/bare_tx"
			}
			d.judge(t, shared, false, want, func(nc net.Conn) { write(t, nc, item.Lead) })
			d.datagram(t, item.Lead, dropped)
			l.hit("detect.items", i)
		})
	}
}

// recordVerdict is what the words of a vector mean. On the shared door a wrong tag
// is no record at all.
func recordVerdict(t *testing.T, d *doorway, x *invalidVector, door string) verdict {
	t.Helper()
	reason := map[string]string{"object_len_exceeds_bytes": "truncated", "trailing_bytes": "bad_tag"}[x.Reason]
	if reason == "" {
		reason = x.Reason
	}
	if reason == "bad_tag" && door == shared && x.Reason == "bad_tag" {
		reason = "bare_tx"
	}
	switch x.Spec.Stream {
	case "close":
		return verdict{closed: reason}
	case "reject":
		return verdict{rejected: []string{reason}}
	case "wait, close at EOF":
		return verdict{closed: reason, atEnd: true}
	case "reject (over any sane size bound), close":
		return verdict{closed: "oversize"}
	case "first record valid; then close (00 is no tag)":
		return verdict{units: []unit{d.small(t)}, closed: "bad_tag"}
	case "two valid records": // the same one twice: the second is a duplicate
		return verdict{units: []unit{d.small(t)}, rejected: []string{"duplicate"}}
	}
	t.Fatalf("%s: what does %q mean?", x.ID, x.Spec.Stream)
	return verdict{}
}

// testInvalidRecords sends each invalid record to each door.
func testInvalidRecords(t *testing.T, v *vectors, l ledger) {
	d := newDoorway(t, v, "127.0.0.1")
	for i := range v.InvalidRecords.Items {
		x := &v.InvalidRecords.Items[i]
		for _, door := range []string{shared, record} {
			t.Run(x.ID+"/"+door, func(t *testing.T) {
				d.judge(t, door, false, recordVerdict(t, d, x, door), func(nc net.Conn) { write(t, nc, x.Hex) })
			})
		}
		t.Run(x.ID+"/udp", func(t *testing.T) {
			as := map[string]string{"bad_tag": "bare_tx", "object_len_exceeds_bytes": "truncated"}[x.Reason]
			switch {
			case strings.Contains(x.Spec.Stream, "over any sane size bound"):
				as = "oversize"
			case as == "":
				as = x.Reason
			}
			kind := "dropped/"
			if x.Reason == "bad_utf8" || x.Reason == "bad_marker" { // the object's own fault
				kind = "rejected/"
			}
			d.datagram(t, x.Hex, kind+as)
		})
		l.hit("invalid_records.items", i)
	}
}

// testTruncations sends every beginning of a record.
func testTruncations(t *testing.T, v *vectors, l ledger) {
	d := newDoorway(t, v, "127.0.0.1")
	tr := &v.InvalidRecords.Truncations
	for i, p := range tr.Prefixes {
		b := tr.Full[:p.Len]
		for _, door := range []string{shared, record} {
			want := verdict{closed: "truncated", atEnd: true}
			if p.Len == 0 { // the end of a connection that sent nothing is a good end
				want = verdict{}
			}
			d.judge(t, door, false, want, func(nc net.Conn) { write(t, nc, b) })
		}
		d.datagram(t, b, "dropped/truncated")
		l.hit("invalid_records.truncations", i)
	}
}

// frameVerdict is what the words of a vector mean.
func frameVerdict(t *testing.T, d *doorway, x *invalidVector) verdict {
	t.Helper()
	overwritten := func() unit {
		header := bytes.Clone(x.Hex[:92])
		header[7] = 1
		return unit{header, x.Hex[92:]}
	}
	switch x.Reason {
	case "bad_magic":
		return verdict{closed: "bare_tx"} // as the first bytes of a connection
	case "bad_version", "not_a_beef_frame":
		return verdict{closed: "bad_version"}
	case "short_header", "payload_len_too_long":
		if len(x.Hex) == 0 {
			return verdict{}
		}
		return verdict{closed: "truncated", atEnd: true}
	case "payload_len_too_large":
		return verdict{closed: "oversize"}
	case "payload_len_too_short":
		return verdict{rejected: []string{"truncated"}, closed: "bad_magic"}
	case "deliver_count_out_of_range", "deliver_count_above_topic_count", "deliver_count_on_bare_object":
		return verdict{units: []unit{overwritten()}}
	case "no_marker":
		return verdict{rejected: []string{"bad_payload_len"}}
	case "truncated_record":
		return verdict{rejected: []string{"truncated"}}
	case "trailing_bytes":
		if x.Spec.Stream != "reject" { // behind a whole frame
			u := overwritten()
			u.payload = u.payload[:len(u.payload)-1]
			return verdict{units: []unit{u}, closed: "bad_magic"}
		}
	}
	return verdict{rejected: []string{x.Reason}}
}

// testInvalidFrames sends each invalid frame to the shared door and as a datagram.
func testInvalidFrames(t *testing.T, v *vectors, l ledger) {
	d := newDoorway(t, v, "127.0.0.1")
	for i := range v.InvalidFrames.Items {
		x := &v.InvalidFrames.Items[i]
		want := frameVerdict(t, d, x)
		t.Run(x.ID, func(t *testing.T) {
			d.judge(t, shared, true, want, func(nc net.Conn) { write(t, nc, x.Hex) })
		})
		t.Run(x.ID+"/udp", func(t *testing.T) {
			if len(want.units) > 0 && want.closed == "" {
				d.fresh(t, want.units[0].payload)
				nc := d.dial(t, udp)
				write(t, nc, x.Hex)
				d.expect(t, want.units[0])
				return
			}
			var counted string
			switch {
			case len(want.units) > 0:
				counted = "dropped/trailing_bytes"
			case len(want.rejected) > 0:
				counted = "rejected/" + want.rejected[0]
			case len(x.Hex) == 0:
				counted = "dropped/truncated"
			case x.Reason == "payload_len_too_large":
				counted = "dropped/oversize"
			default:
				counted = "dropped/" + want.closed
			}
			d.datagram(t, x.Hex, counted)
		})
		l.hit("invalid_frames.items", i)
	}
}

// testStreams sends each stream in one write and byte by byte.
func testStreams(t *testing.T, v *vectors, l ledger) {
	d := newDoorway(t, v, "127.0.0.1")
	end := map[string]verdict{
		"three_records":                     {},
		"record_then_frame":                 {closed: "bad_tag"},
		"record_then_malformed_then_record": {closed: "bad_record_ver"},
		"record_bad_marker_then_record":     {rejected: []string{"bad_marker"}},
		"two_frames":                        {},
		"frame_then_record":                 {closed: "bad_magic"},
		"frame_topic_mismatch_then_frame":   {rejected: []string{"topic_mismatch"}},
		"bare_object_first":                 {closed: "bare_tx"},
		"one_byte":                          {closed: "truncated", atEnd: true},
	}
	for i := range v.Streams.Items {
		s := &v.Streams.Items[i]
		want, ok := end[s.ID]
		if !ok {
			t.Errorf("stream %s: %s", s.ID, s.Ends)
			continue
		}
		for _, name := range s.Units {
			if name = strings.TrimPrefix(name, "frame of "); name[0] != '(' { // not one that is rejected
				r := v.record(t, name)
				want.units = append(want.units, unit{r.Frames["1"].Header, r.Record})
			}
		}
		framed := bytes.HasPrefix(s.Hex, []byte{0xE3, 0xE1})
		t.Run(s.ID+"/whole", func(t *testing.T) {
			d.judge(t, shared, framed, want, func(nc net.Conn) { write(t, nc, s.Hex) })
		})
		t.Run(s.ID+"/bytes", func(t *testing.T) {
			d.judge(t, shared, framed, want, func(nc net.Conn) {
				for i := range s.Hex {
					if _, err := nc.Write(s.Hex[i : i+1]); err != nil {
						return // the door has closed on what came before
					}
				}
			})
		})
		l.hit("streams.items", i)
	}
}
