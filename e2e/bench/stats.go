package main

import (
	"math"
	"slices"
)

// Figures are named numbers of one side of a row. The names end in their unit.
type Figures map[string]float64

// percentile is the smallest of the values that at least share of them do not
// exceed (nearest rank); 0 of none. It sorts values.
func percentile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	rank := int(math.Ceil(share * float64(len(values))))
	return values[min(max(rank, 1), len(values))-1]
}

// median is the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	m := len(v) / 2
	if len(v)%2 == 1 {
		return v[m]
	}
	return (v[m-1] + v[m]) / 2
}

// medians is the median of each figure over rounds that all have it.
func medians(rounds []Figures) Figures {
	all := make(map[string][]float64)
	for _, r := range rounds {
		for name, v := range r {
			all[name] = append(all[name], v)
		}
	}
	out := make(Figures, len(all))
	for name, v := range all {
		if len(v) == len(rounds) {
			out[name] = median(v)
		}
	}
	return out
}

// ratio is ours / theirs, nothing (false) where theirs is zero.
func ratio(ours, theirs float64) (float64, bool) {
	if theirs == 0 {
		return 0, false
	}
	return ours / theirs, true
}

// ratioNames are the ratios of a row and the figure that each is made of.
var ratioNames = []struct{ name, figure string }{
	{"goodput", "goodput_bytes_per_s"},
	{"cpu", "cpu_s_per_payload_mb"},
	{"wire", "wire_bytes_per_payload_byte"},
	{"p50", "p50_ms"},
	{"p99", "p99_ms"},
}

// ratios compares two sides, each by its medians.
func ratios(ours, theirs Figures) map[string]float64 {
	out := make(map[string]float64)
	for _, r := range ratioNames {
		a, has := ours[r.figure]
		if !has {
			continue
		}
		if v, ok := ratio(a, theirs[r.figure]); ok {
			out[r.name] = v
		}
	}
	return out
}
