// Package client is the other side of a node's doors: a Sender, Datagrams and a
// Poster submit objects to an ingress over TCP, UDP and HTTP, a Consumer takes
// delivery records from egress lanes (PROTOCOL §7), and Tree asks the API how a
// node sees its part of the tree.
package client
