package view_test

import (
	"os"
	"strings"
	"testing"

	"treecast/cmd/treecast/internal/view"
	"treecast/node/api"
)

func overlay(digit string) string { return strings.Repeat(digit, 64) }

func relay() *api.Tree {
	return &api.Tree{
		PeerID: "16Uiu2HAm", Overlay: overlay("5"),
		Cohorts: []api.Cohort{{
			Topic: overlay("7"), Group: "ff0e::b:1000", Attached: true, Settled: true, Band: 3, Capacity: 4,
			Parents: []api.Parent{
				{Link: api.Link{Overlay: overlay("1"), Band: 1}, Broker: true, First: 10, Second: 2},
				{Link: api.Link{Overlay: overlay("2"), Band: 2, RTT: 1.25}, First: 2, Second: 10},
			},
			Children: []api.Child{
				{Link: api.Link{Overlay: overlay("8"), Band: 4}, Childless: true, QueueFill: 0.5, QueueFrames: 40},
				{Link: api.Link{Overlay: overlay("9"), Foreign: true}, Relays: true},
			},
		}},
	}
}

func ExampleOwn() {
	view.Own(os.Stdout, relay())
	// Output:
	// node 555555555555  peer 16Uiu2HAm
	//
	// cohort 777777777777  group ff0e::b:1000  attached, unpinned
	//   ┌─ parent 111111111111  band 1  the broker  first 10  second 2
	//   ├─ parent 222222222222  band 2  first 2  second 10  1.2 ms
	//   ● 555555555555  band 3  2/4 slots
	//   ├─ child 888888888888  band 4  queue 50 % (40 frames)  leaf
	//   └─ child 999999999999  foreign  queue 0 % (0 frames)
}

func TestDotNamesEveryEdge(t *testing.T) {
	var b strings.Builder
	if err := view.Dot(&b, relay()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"777777777777/111111111111" -> "777777777777/555555555555"`,
		`"777777777777/222222222222" -> "777777777777/555555555555"`,
		`"777777777777/555555555555" -> "777777777777/888888888888" [label="50 %"]`,
		`"777777777777/555555555555" -> "777777777777/999999999999"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "{"); n != strings.Count(b.String(), "}") {
		t.Errorf("braces do not match in\n%s", b.String())
	}
}
