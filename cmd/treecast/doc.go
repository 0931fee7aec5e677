// Command treecast carries objects through a multicast tree of libp2p nodes:
// it runs a node, feeds it, reads from it, and shows what it does.
//
// Each subcommand has its own file: it turns flags into a configuration and
// hands that to a package that does the work. The packages under internal are
// for this command alone: beefnode puts a node and its doors together, client
// is the other side of the doors, demo runs a whole network in one process,
// explain tells what bytes are, and view draws a tree.
//
// Settings come from flags, then from the environment (TREECAST_DATA_DIR for
// --data-dir), then, for a node, from a YAML file, then from the defaults. The
// exit code is 0 on success alone, 1 on failure and 2 on wrong usage.
package main
