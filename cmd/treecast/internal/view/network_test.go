package view_test

import (
	"os"

	"treecast/cmd/treecast/internal/view"
	"treecast/wire"
)

func ExampleDraw() {
	o := func(b byte) wire.Overlay { return wire.Overlay{b} }
	view.Draw(os.Stdout, []view.Node{
		{Name: "C1", Overlay: o(4), Band: 4, Parents: []wire.Overlay{o(3), o(2)}, Note: "consumer"},
		{Name: "broker", Overlay: o(9), Band: 1, Capacity: 3, Children: 2},
		{Name: "R2", Overlay: o(3), Band: 2, Capacity: 3, Children: 2, Parents: []wire.Overlay{o(9)}},
		{Name: "R1", Overlay: o(2), Band: 2, Capacity: 3, Children: 1, Parents: []wire.Overlay{o(9)}},
		{Name: "R3", Overlay: o(1), Band: 3, Capacity: 3, Parents: []wire.Overlay{o(3)}},
		{Name: "lost", Overlay: o(7), Capacity: 3},
	})
	// Output:
	// broker  2/3
	// ├─ R1  1/3
	// │  └─ C1  + R2  (consumer)
	// └─ R2  2/3
	//    └─ R3  0/3
	// lost  0/3
}
