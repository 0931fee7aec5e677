// Package tree imports what nothing may import.
package tree

import (
	"treecast/e2e/arch/testdata/order/cmd" // want order
	"treecast/e2e/arch/testdata/order/e2e" // want order
)

// X is there to use the imports.
const X = cmd.X + e2e.X
