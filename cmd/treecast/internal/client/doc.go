// Package client is the other side of a node's doors: a Sender submits objects
// to an ingress, a Consumer takes delivery records from egress lanes (PROTOCOL
// §7), and Tree asks the API how a node sees its part of the tree.
package client
