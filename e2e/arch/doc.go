// Package arch holds the project to its architecture: which package may import
// which, and what the deterministic packages must not contain (ARCHITECTURE;
// STYLE, The core). Its test checks the project itself and packages planted in
// testdata, each of which breaks one rule.
//
// The rules, by the names under which they are reported:
//
//	order      imports run one way: proto < wire < probe < tree < node < cmd; e2e may
//	           import all, nothing else imports e2e or cmd, tests included
//	reserved   a client library that one package uses is imported by no other, and the
//	           NATS server by the tests of e2e/jetstream alone
//	import     wire, probe and tree use no file, socket, context, log, lock or libp2p;
//	           probe and tree no protobuf and no chance but the one handed to them
//	clock      wire, probe and tree never read the clock and start no timer
//	goroutine  … start no goroutine
//	channel    … use no channel
//	output     … print nothing
//	init       … run nothing before main
//	chance     probe and tree draw from their own source alone
//	maporder   probe and tree range over no map, unless a comment beside it says why
//	           the order does not matter
package arch
