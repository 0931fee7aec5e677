// Package proto holds the messages of PROTOCOL §3 and §6 and nothing else. Its
// code is generated from bps.proto by `make proto`. Only package wire's tests
// import it: elsewhere messages are wire's plain values.
package proto
