// Package lane carries BEEF objects into a cohort and out of it (PROTOCOL §7).
//
// An Ingress has doors: TCP ports where publishers write submission records or
// object frames, UDP ports that take one in each datagram, and POST /submit. It
// judges objects with wire/beef, keeps to its rates, drops duplicates, cuts what
// does not fit one chunk into fragments, gives every object frame and fragment the
// next feed index of its group and hands it to that group's Publisher. Each door has
// its policy: who may submit, and whose records get more than one name made
// deliverable.
//
// An Egress takes what the cohorts deliver, puts fragments together again, and
// streams each object to the consumers whose election it matches, as delivery
// records or as object frames. A consumer is dialled by the edge, from its
// configuration, or connects and says what it elects: in one line over TCP, in the
// query of GET /deliver over a WebSocket or an HTTP stream.
//
// The package never looks into an object beyond its marker, never changes a byte
// of a payload, answers nothing on a raw door, and knows no tree: a Publisher a
// group and a Message are all it has of the node. It opens no HTTP server: its
// handlers are for the one of the node's API. No consumer delays another, and none the
// node: each has a bounded queue, and a full one costs that consumer its lane.
package lane
