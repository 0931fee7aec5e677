// Package probe imports a layer above its own.
package probe

import "treecast/e2e/arch/testdata/order/tree" // want order

// X is there to use the import.
const X = tree.X
