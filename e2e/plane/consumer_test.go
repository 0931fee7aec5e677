package plane_test

import (
	"crypto/sha256"
	"encoding/binary"
	"net"
	"slices"
	"testing"

	"treecast/e2e/cluster"
	"treecast/e2e/plane"
)

// TestConsumerSeesFaults delivers to a consumer what must not be: an object twice,
// two the wrong way round, one with a wrong byte, one of nobody's, and one not at
// all.
func TestConsumerSeesFaults(t *testing.T) {
	set, other := plane.NewSet(1, plane.Sizes(6, 100)), plane.NewSet(2, plane.Sizes(1, 100))
	c := plane.NewConsumer(t, "c", set)
	nc, err := net.Dial("tcp", c.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	deliver := func(object []byte) {
		rec := append([]byte{0xBE, 0xEF, 1, 1, 1, 'a'}, binary.BigEndian.AppendUint32(nil, uint32(len(object)))...)
		rec = append(rec, object...)
		topic := sha256.Sum256([]byte("a"))
		write(t, nc, append(binary.BigEndian.AppendUint32(topic[:], uint32(len(rec))), rec...))
	}
	for _, i := range []int{0, 1, 1, 3, 2} {
		deliver(set.Append(nil, i))
	}
	wrong := set.Append(nil, 4)
	wrong[50]++
	deliver(wrong)
	deliver(other.Append(nil, 0))
	deliver(set.Append(nil, 4))
	cluster.Eventually(t, patience, "all has come", func() (bool, string) { return c.Count() == 5, "" })
	got := c.Tally()
	if got.Objects != 5 || !slices.Equal(got.Missing, []int{5}) || !slices.Equal(got.Twice, []int{1}) || got.Disorder != 1 || len(got.Strays) != 2 {
		t.Errorf("%+v", got)
	}
	if c.Dials() != 1 {
		t.Errorf("dialled %d times", c.Dials())
	}
}
