package cluster_test

import (
	"context"
	"net"
	"testing"
	"time"

	"treecast/e2e/cluster"
	"treecast/wire/beef"
)

// TestTapSeesWhatIsWrong has a tap fed by hand: it must tell missing, repeated
// and altered objects, and a gap, or every test on top of it proves nothing.
func TestTapSeesWhatIsWrong(t *testing.T) {
	objects := cluster.MakeObjects(1, 4, 100)
	tap := cluster.NewTap(t, objects)
	conn, err := net.Dial("tcp", tap.Addr())
	if err != nil {
		t.Fatal(err)
	}
	send := func(object []byte) {
		record, err := beef.AppendRecord(nil, []string{"tm_a"}, object)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(beef.AppendDelivery(nil, &beef.Delivery{Payload: record}))
	}
	send(objects[0])
	send(objects[2])
	send(objects[2])
	altered := append([]byte(nil), objects[1]...)
	altered[60] ^= 1
	send(altered)
	await := func(n int) {
		cluster.Eventually(t, 5*time.Second, "the tap has read", func() (bool, string) {
			_, _, corrupted := tap.Faults()
			return tap.Count() == n && corrupted == 1, ""
		})
	}
	await(2)
	time.Sleep(60 * time.Millisecond)
	conn.Write(make([]byte, 20)) // a record cut by the end of the connection
	conn.Close()
	if conn, err = net.Dial("tcp", tap.Addr()); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	send(objects[3])
	await(3)
	missing, twice, corrupted := tap.Faults()
	if len(missing) != 1 || missing[0] != 1 || len(twice) != 1 || twice[0] != 2 || corrupted != 1 {
		t.Errorf("missing %v, twice %v, %d corrupted", missing, twice, corrupted)
	}
	if gaps := tap.Gaps(50 * time.Millisecond); len(gaps) != 1 || gaps[0].Length() < 50*time.Millisecond {
		t.Errorf("gaps %v", gaps)
	}
}

// TestPaceSaysThatItWasLate has a generator that is held up.
func TestPaceSaysThatItWasLate(t *testing.T) {
	load, err := cluster.Pace(context.Background(), 1000, 50, func(i int) error {
		if i == 20 {
			time.Sleep(40 * time.Millisecond)
		}
		return nil
	})
	if err != nil || load.Sent != 50 || load.Late < 40*time.Millisecond {
		t.Errorf("%+v, %v", load, err)
	}
	if took := time.Since(load.Start); took < 49*time.Millisecond {
		t.Errorf("50 at 1000 a second took %v", took)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := cluster.Pace(ctx, 1, 2, func(int) error { return nil }); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}
