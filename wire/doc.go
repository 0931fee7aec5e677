// Package wire turns the bytes of a cohort's streams into plain Go values and
// back: varint framing, the first frame that decides what a stream is for, the
// handshake's messages, views of the broadcast frames that follow it, and the
// recovery of chunks (PROTOCOL §2, §3, §6 and §8).
//
// It judges form alone. Whether a cohort's spec is allowed, an owner admitted or
// a signature right is decided by the packages above; what comes out here has
// sizes and counts that are safe to use. The package opens nothing, waits for
// nothing and keeps no state between two messages. Its only shared state is a
// [Pool], whose buffers carry a chunk from the stream that brought it to every
// stream that takes it on.
//
// # Messages
//
// Every message type has a parser and an Append that writes the message without
// its length prefix; [AppendFrame] and [Pool.Frame] put the prefix before it.
// Append writes fields in the order of their numbers and leaves out those at
// their zero value, so that equal values are equal bytes. The parsers take more
// than that, by one set of rules:
//
//   - A field whose number or wire type is not in the table is ignored, and so
//     is a field of another wire type than the table's. A group is refused:
//     proto3 has none, and skipping one costs a recursion.
//   - Of several occurrences of a field that is not repeated the last counts,
//     whole: embedded messages are replaced, never merged. Each of them has to
//     decode, since the next hop may read them all.
//   - Numbers are cut to the width of their field, as protobuf does, with the
//     exception of enums, where a value that no byte holds becomes 0.
//   - A field of a fixed size that comes in another one says nothing: an entry
//     of a list is left out, a single field counts as absent. What others judge
//     keeps the size it came in: the fields of a cohort's spec, because a wrong
//     one has to be answered, of a chunk, of a proof, and of a Reparent.
//   - What is beyond the bound of a list is not kept.
//
// What does not decode by these rules is a [SyntaxError], which wraps
// [ErrMalformed] and ends the stream.
//
// # Memory
//
// [Soc], [Probe] and [Reparent] point into the parsed message and live as long
// as it does; parsing them allocates nothing. Everything else owns its memory.
package wire
