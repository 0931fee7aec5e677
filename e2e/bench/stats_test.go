package main

import (
	"math"
	"testing"
)

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		values []float64
		share  float64
		want   float64
	}{
		{nil, 0.5, 0},
		{[]float64{7}, 0, 7},
		{[]float64{7}, 1, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 3, 1, 2}, 0.5, 2},
		{[]float64{4, 3, 1, 2}, 0.51, 3},
		{hundred, 0.99, 99},
		{hundred, 1, 100},
	} {
		if got := percentile(c.values, c.share); got != c.want {
			t.Errorf("percentile(%v, %v) = %v, want %v", c.values, c.share, got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{5}, 5}, {[]float64{9, 1, 5}, 5}, {[]float64{1, 9, 3, 5}, 4}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestMedians(t *testing.T) {
	got := medians([]Figures{{"a": 1, "b": 2}, {"a": 5}, {"a": 3, "b": 4}})
	if len(got) != 1 || got["a"] != 3 {
		t.Errorf("medians = %v, want a alone, 3", got)
	}
}

// Ratios are ours / theirs, and there is none where a side has no figure or a zero.
func TestRatios(t *testing.T) {
	ours := Figures{"goodput_bytes_per_s": 600, "cpu_s_per_payload_mb": 1, "p50_ms": 3, "p99_ms": 4}
	theirs := Figures{"goodput_bytes_per_s": 200, "cpu_s_per_payload_mb": 4, "p50_ms": 0, "wire_bytes_per_payload_byte": 2}
	got := ratios(ours, theirs)
	if len(got) != 2 || got["goodput"] != 3 || got["cpu"] != 0.25 {
		t.Errorf("ratios = %v", got)
	}
	for name, v := range got {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			t.Errorf("%s = %v does not go into JSON", name, v)
		}
	}
}
