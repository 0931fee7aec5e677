// Package lane carries BEEF objects into a cohort and out of it (PROTOCOL §7).
//
// An Ingress has doors: TCP ports where publishers write submission records or
// object frames. It judges them with wire/beef, keeps to its rates, drops
// duplicates, cuts what does not fit one chunk into fragments, gives every object
// frame and fragment the next feed index and hands it to a Publisher.
//
// An Egress takes what a cohort delivers, puts fragments together again, and
// streams each object to the consumers whose election it matches, as delivery
// records or as object frames. A consumer is either dialled by the edge, from its
// configuration, or connects and says in one line what it elects.
//
// The package never looks into an object beyond its marker, never changes a byte
// of a payload, answers nothing on a raw door, and knows no tree: a Publisher and
// a Message are all it has of the node. No consumer delays another, and none the
// node: each has a bounded queue, and a full one costs that consumer its lane.
package lane
