//go:build !linux

package main

// isolate and deviceBytes need Linux's network namespaces.
func isolate() (code int, done bool) { return 0, false }

func deviceBytes() uint64 { return 0 }
