package beef_test

import (
	"bytes"
	"testing"

	"treecast/wire/beef"
)

// seed adds what is short enough to be worth changing.
func seed(f *testing.F, add func([]byte), lists ...[][]byte) {
	f.Helper()
	for _, list := range lists {
		for _, b := range list {
			if len(b) <= maxSeed {
				add(b)
			}
		}
	}
}

func recordSeeds(t testing.TB) (out [][]byte) {
	v := theVectors(t)
	for i := range v.Records.Items {
		out = append(out, v.Records.Items[i].Record)
	}
	for i := range v.InvalidRecords.Items {
		out = append(out, v.InvalidRecords.Items[i].Hex)
	}
	return out
}

func frameSeeds(t testing.TB) (out [][]byte) {
	v := theVectors(t)
	for i := range v.Records.Items {
		for _, f := range v.Records.Items[i].Frames {
			if f.Frame != nil {
				out = append(out, f.Frame)
			}
		}
	}
	for i := range v.Records.ValidFrameVariants {
		out = append(out, v.Records.ValidFrameVariants[i].Frame)
	}
	for i := range v.InvalidFrames.Items {
		out = append(out, v.InvalidFrames.Items[i].Hex)
	}
	return out
}

// fragmentSeeds are short fragments, each also with every field of its numbers
// made 0 and made huge, as the vectors of bad fragments have it.
func fragmentSeeds(t testing.TB) (out [][]byte) {
	for _, frag := range append(fragments(t, 0, 3), fragments(t, 1, 1)...) {
		good := beef.AppendFragment(nil, &frag)
		out = append(out, good, good[:beef.FragmentHeaderSize])
		for _, field := range [][2]int{{0, 4}, {6, 7}, {88, 92}, {92, 96}, {96, 98}, {98, 100}, {100, 101}} {
			for _, value := range []byte{0, 0xFF} {
				bad := bytes.Clone(good)
				copy(bad[field[0]:field[1]], bytes.Repeat([]byte{value}, 4))
				out = append(out, bad)
			}
		}
	}
	return out
}

func deliverySeeds(t testing.TB) (out [][]byte) {
	v := theVectors(t)
	for i := range v.DeliveryRecords.Items {
		if b := v.DeliveryRecords.Items[i].Record; b != nil {
			out = append(out, b)
		}
	}
	for i := range v.DeliveryRecords.Invalid {
		out = append(out, v.DeliveryRecords.Invalid[i].Hex)
	}
	return append(out, v.DeliveryRecords.StreamTwoRecords.Hex)
}
