//go:build race

package retain_test

// raceEnabled says that the race detector slows everything down.
const raceEnabled = true
