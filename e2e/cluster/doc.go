// Package cluster runs several real nodes on loopback, in this process or as
// processes of the built binary, for tests that need more than one node. Its
// helpers start nodes, wait for conditions instead of sleeping, end nodes as a
// crash would or have them leave, make a parent keep chunks back, put a load with
// a steady pace through the network, and compare what consumers got byte for
// byte, once, and how long they got nothing.
//
// A load generator says how late it was itself: where that is much, a run that
// measures gaps is void and proves nothing, either way.
package cluster
