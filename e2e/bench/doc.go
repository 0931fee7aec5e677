// Command bench measures treecast beside go-libp2p-pubsub's gossipsub.
package main
