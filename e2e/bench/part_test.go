package main

import "testing"

func TestPerChunk(t *testing.T) {
	before := mark{CPU: 5e6, Chunks: 10, Writes: 4, Bytes: 100, Mallocs: 7}
	after := before
	if _, err := perChunk(before, after); err == nil {
		t.Error("figures of no chunk")
	}
	after.At = before.At.Add(2e9)
	after.CPU, after.Chunks, after.Writes, after.Bytes, after.Mallocs = 25e6, 210, 54, 100+uint64(200*frameSize), 407
	f, err := perChunk(before, after)
	if err != nil {
		t.Fatal(err)
	}
	want := Figures{"cpu_us_per_chunk": 100, "msgs_per_s": 100, "allocs_per_chunk": 2, "chunks_per_write": 4}
	for name, want := range want {
		if f[name] != want {
			t.Errorf("%s = %v, want %v", name, f[name], want)
		}
	}
}
