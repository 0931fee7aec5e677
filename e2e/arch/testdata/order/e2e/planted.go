// Package e2e imports nothing, and is in a layer that is fine.
package e2e

// X is there to be imported.
const X = 1
