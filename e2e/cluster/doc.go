// Package cluster runs several real nodes on loopback, in this process or as
// processes of the built binary, for tests that need more than one node. Its
// helpers start nodes, wait for conditions instead of sleeping, end nodes as a
// crash would, and compare what consumers got byte for byte.
package cluster
