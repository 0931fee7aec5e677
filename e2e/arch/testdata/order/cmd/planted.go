// Package cmd imports e2e.
package cmd

import "treecast/e2e/arch/testdata/order/e2e" // want order

// X is there to be imported.
const X = e2e.X
