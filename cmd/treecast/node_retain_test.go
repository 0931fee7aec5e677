package main

import (
	"slices"
	"testing"
	"time"

	"treecast/cmd/treecast/internal/beefnode"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"1048576": 1 << 20, "500M": 500 << 20, "20GiB": 20 << 30, "2gb": 2 << 30, "1T": 1 << 40, "2097152B": 2 << 20, "2048kib": 2 << 20,
		"": 0, "G": 0, "-1G": 0, "1.5G": 0, "10X": 0, "1023K": 0, "0": 0, "9999999999G": 0, "5i": 0, "5 G": 0,
	} {
		got, err := parseSize(s)
		if (err == nil) != (want > 0) || got != want {
			t.Errorf("%q: %d, %v, want %d", s, got, err, want)
		}
	}
}

func TestRetainFlags(t *testing.T) {
	var f nodeFlags
	for _, tc := range []struct {
		retainFlags
		fault string
	}{
		{retainFlags{}, ""},
		{retainFlags{"1G", 0}, ""},
		{retainFlags{"1G", time.Hour}, ""},
		{retainFlags{"", time.Hour}, "node: --retain-age without --retain"},
		{retainFlags{"1G", -1}, "node: --retain-age -1ns: want 0 or more"},
		{retainFlags{"x", 0}, `node: --retain "x": want a number with K, M, G or T`},
	} {
		p := &nodeParser{nodeFlags: &f}
		f.retained = tc.retainFlags
		var cfg beefnode.Config
		p.retain(&cfg)
		if tc.fault == "" && len(p.faults) > 0 || tc.fault != "" && !slices.Equal(p.faults, []string{tc.fault}) {
			t.Errorf("%+v: %q", tc.retainFlags, p.faults)
		}
		if tc.fault == "" && cfg.Node.Retain.Age != tc.age {
			t.Errorf("%+v became %+v", tc.retainFlags, cfg.Node.Retain)
		}
	}
}
