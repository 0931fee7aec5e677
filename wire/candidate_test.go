package wire_test

import (
	"slices"
	"testing"

	"treecast/wire"
)

func TestCandidateRules(t *testing.T) {
	addr := seq(1, 32)
	good := field(nil, 1, addr)
	plain := &wire.Candidate{Addr: wire.Overlay(addr)}
	underlays := func(sizes ...int) []byte {
		msg := slices.Clone(good)
		for _, n := range sizes {
			msg = field(msg, 100, seq(0, n))
		}
		return msg
	}
	with := func(sizes ...int) *wire.Candidate {
		c := *plain
		for _, n := range sizes {
			c.Underlays = append(c.Underlays, seq(0, n))
		}
		return &c
	}
	tests := []struct {
		name string
		msg  []byte
		want *wire.Candidate // nil: left out
	}{
		{"address alone", good, plain},
		{"nothing", nil, nil},
		{"address of 31", field(nil, 1, addr[:31]), nil},
		{"address of 33", field(nil, 1, seq(1, 33)), nil},
		{"address, then one of 31", field(slices.Clone(good), 1, addr[:31]), nil},
		{"depth", varint(slices.Clone(good), 2, 7), &wire.Candidate{Addr: plain.Addr, Depth: 7}},
		{"bytes in field 2", field(slices.Clone(good), 2, nil), nil},
		{"bytes in field 3", field(slices.Clone(good), 3, seq(0, 65)), nil},
		{"bytes in field 4", field(slices.Clone(good), 4, seq(0, 8)), nil},
		{"bytes in field 5", field(slices.Clone(good), 5, seq(0, 1)), nil},
		{"bytes in field 6", field(slices.Clone(good), 6, seq(0, 1)), plain},
		{"number in field 3", varint(slices.Clone(good), 3, 1), plain},
		{"band 0", varint(slices.Clone(good), 101, 0), &wire.Candidate{Addr: plain.Addr, HasBand: true}},
		{"8 underlays", underlays(1, 2, 3, 4, 5, 6, 7, 8), with(1, 2, 3, 4, 5, 6, 7, 8)},
		{"9 underlays", underlays(1, 2, 3, 4, 5, 6, 7, 8, 9), with(1, 2, 3, 4, 5, 6, 7, 8)},
		{"empty underlay", underlays(0, 3), with(3)},
		{"1 KiB", underlays(1000, 24), with(1000, 24)},
		{"1 KiB and 1", underlays(1000, 25, 24), with(1000, 24)},
		{"one over 1 KiB", underlays(1025), plain},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var want []wire.Candidate
			if tt.want != nil {
				want = []wire.Candidate{*tt.want}
			}
			ack, err := wire.ParseAck(field(varint(nil, 1, 2), 3, tt.msg))
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(want, ack.Candidates); d != "" {
				t.Errorf("in an ack (-want +got):\n%s", d)
			}
			var b wire.Broadcast
			if err := b.Parse(field(nil, 4, field(nil, 1, tt.msg))); err != nil {
				t.Fatal(err)
			}
			if d := diff(want, b.Found.Candidates); d != "" {
				t.Errorf("in a found (-want +got):\n%s", d)
			}
		})
	}
}
