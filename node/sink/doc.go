// Package sink stores a plane's objects in a NATS JetStream stream: the external
// durable consumer behind which operators scale out (ARCHITECTURE, durable sink).
//
// Each object becomes one message on the subject beef.TOPICID, TOPICID being the
// topic it is delivered under as 64 hex digits. The message's body is the payload
// of the delivery record, byte for byte (PROTOCOL §7 Layouts); the Header
// constants name what goes beside it. An object that the server would refuse as
// too long goes into an object store of the same server, under its message id, and
// the message with an empty body refers to it.
//
// The message id is ContentID ‖ TopicID, so the stream itself drops what it has
// had within its duplicate window. What may have been sent longer ago than that,
// before a crash or an outage, is looked for in the stream before it is sent
// again. So an object is in the stream once, whatever ends the node, the
// connection or the server in between.
//
// A [Sink] takes objects from a [Source] no faster than the stream acknowledges
// them, in the source's order, and tells the source what is stored. It never drops
// an object: one that cannot be stored holds up those behind it until it can be,
// which is counted and logged. What it holds meanwhile is bounded by [Limits].
package sink
