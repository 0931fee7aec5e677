// Package demo runs a whole network in one process: a broker with a TCP
// ingress, relays, and consumers behind leaves with dialled egress lanes, all
// of them real nodes on loopback sockets. It submits objects through the
// ingress as any publisher would, cuts relays off on the way, compares every
// byte at every consumer, and reports what it saw.
package demo
