package main

import "fmt"

// theClaims are the thresholds that rows of make bench decide. What is a count, as
// the allocations of our own a chunk, is decided by the tests instead.
func theClaims() (list []claim) {
	for _, n := range []int{32, 64} {
		list = append(list, closedClaims(n)...)
	}
	list = append(list, claim{
		"wire bytes per payload byte, one parent", "closed-4096-n32-parents1", "tuned", ours("wire_bytes_per_payload_byte"), false, 1.1,
	})
	for _, size := range []int{512, 4096} {
		for _, n := range []int{32, 64} {
			list = append(list, rateClaims(size, n)...)
		}
	}
	list = append(list, faultClaims()...)
	list = append(list, claim{"CPU a chunk / check + read + 16 writes", relayName, "parts", ratioOf("cpu"), false, 1.5})
	list = append(list, codeClaims()...)
	const objects = "closed-1MiB-n32"
	return append(
		list,
		claim{"goodput / our own closed-4096-n32", objects, "tuned", overOurs("goodput_bytes_per_s", "closed-4096-n32"), true, 0.9},
		claim{"goodput ratio", objects, "tuned", ratioOf("goodput"), true, 2.5},
		claim{"bytes on our streams in 60 s", idleName, "tuned", ours("idle_stream_bytes"), false, 0},
		claim{"p50 of a join / two dials and streams", joinName, "two-dials", ratioOf("p50"), false, 3},
	)
}

// closedClaims are on the closed loops with n hosts and two parents.
func closedClaims(n int) []claim {
	w := fmt.Sprintf("closed-4096-n%d", n)
	return []claim{
		{"missing", w, "tuned", ours("missing"), false, 0},
		{"goodput ratio", w, "tuned", ratioOf("goodput"), true, 3},
		{"CPU ratio", w, "tuned", ratioOf("cpu"), false, 0.33},
		{"wire ratio", w, "tuned", ratioOf("wire"), false, 0.95},
		{"wire bytes per payload byte", w, "tuned", ours("wire_bytes_per_payload_byte"), false, 2.1},
		{"goodput ratio", w, "default", ratioOf("goodput"), true, 5.5},
		{"CPU ratio", w, "default", ratioOf("cpu"), false, 0.2},
		{"wire ratio", w, "default", ratioOf("wire"), false, 0.33},
		{"goodput ratio", fmt.Sprintf("closed-512-n%d", n), "tuned", ratioOf("goodput"), true, 3},
	}
}

func rateClaims(size, n int) []claim {
	w := fmt.Sprintf("rate-%d-n%d", size, n)
	return []claim{
		{"p50 ratio", w, "tuned", ratioOf("p50"), false, 0.7},
		{"p99 ratio", w, "tuned", ratioOf("p99"), false, 0.8},
		{"CPU ratio", w, "tuned", ratioOf("cpu"), false, 0.45},
	}
}

// faultClaims are on hosts that are killed or fall silent.
func faultClaims() (list []claim) {
	for _, kind := range []string{"kill", "mute"} {
		w := "rate-4096-n32-" + kind
		list = append(
			list,
			claim{"missing", w, "tuned", ours("missing"), false, 0},
			claim{"longest gap ratio, first host", w, "tuned", overTheirs("gap_after_1_ms"), false, 1},
			claim{"longest gap ratio, four more hosts", w, "tuned", overTheirs("gap_after_4_ms"), false, 1},
		)
	}
	return list
}

// codeClaims are on pieces of code; those on the check hold with libsecp256k1.
func codeClaims() (list []claim) {
	if withLibrary {
		list = append(
			list,
			claim{"CPU / one recovery", "check-4096B", "recover", ratioOf("cpu"), false, 1.55},
			claim{"CPU / one recovery", "check-64B", "recover", ratioOf("cpu"), false, 1.2},
		)
	}
	for _, size := range []string{"400B", "100KiB"} {
		list = append(
			list,
			claim{"allocations of a record's parse", "codec-record-parse-" + size, "sha256d", ours("allocs_per_op"), false, 0},
			claim{"CPU ns of a frame's decode", "codec-frame-decode-" + size, "sha256d", ours("cpu_ns_per_op"), false, 100},
			claim{"allocations of a frame's decode", "codec-frame-decode-" + size, "sha256d", ours("allocs_per_op"), false, 0},
		)
	}
	const copied = 1 << 10 // a copy of the payload takes a hundred times that
	return append(
		list,
		claim{"record to frame / one SHA-256d", "codec-record-to-frame-400B", "sha256d", ratioOf("cpu"), false, 1.6},
		claim{"record to frame / one SHA-256d", "codec-record-to-frame-100KiB", "sha256d", ratioOf("cpu"), false, 1.1},
		claim{"bytes allocated for a delivery of 100 KiB", "codec-frame-to-delivery-100KiB", "sha256d", ours("b_per_op"), false, copied},
		claim{"bytes allocated for fragments of 100 KiB", "codec-fragment-100KiB", "sha256d", ours("b_per_op"), false, copied},
	)
}

// ours is a figure of our side.
func ours(name string) figureOf {
	return func(r *row, _ func(string) Figures) (float64, bool) {
		v, ok := r.Treecast[name]
		return v, ok
	}
}

// ratioOf is one of the row's own ratios.
func ratioOf(name string) figureOf {
	return func(r *row, _ func(string) Figures) (float64, bool) {
		v, ok := r.Ratio[name]
		return v, ok
	}
}

// overTheirs is our figure in theirs.
func overTheirs(name string) figureOf {
	return func(r *row, _ func(string) Figures) (float64, bool) {
		v, has := r.Treecast[name]
		if !has {
			return 0, false
		}
		return ratio(v, r.Gossipsub[name])
	}
}

// overOurs is our figure in our own of another workload.
func overOurs(name, workload string) figureOf {
	return func(r *row, other func(string) Figures) (float64, bool) {
		v, has := r.Treecast[name]
		if !has {
			return 0, false
		}
		return ratio(v, other(workload)[name])
	}
}
