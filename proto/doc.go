// Package proto holds the messages of PROTOCOL §3, §6 and §8 and nothing else. Its
// code is generated from bps.proto and recover.proto by `make proto`. Only package
// wire's tests import it: elsewhere messages are wire's plain values.
package proto
