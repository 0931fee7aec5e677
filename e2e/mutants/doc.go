// Package mutants holds changes to tree and probe that each break one rule of
// PROTOCOL §4 to §6, and a test that shows each of them to be noticed by the
// tests of tree and probe.
//
// A mutant is a file of testdata: a line that names the rule, the file it
// changes, and a text of that file with what takes its place. Texts, not line
// numbers, so that a mutant stands until its rule is rewritten; the plain test
// fails when a text is not there any more, exactly once.
//
//	go test ./e2e/mutants            # each still applies
//	go test ./e2e/mutants -mutants   # none survives; takes minutes
//
// The sources themselves are never touched: a copy of the module is.
package mutants
