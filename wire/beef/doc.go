// Package beef turns the bytes of the BEEF plane into values and back: object
// frames, fragments, submission records and delivery records (PROTOCOL §7).
//
// Decoders return views into their input and allocate only for a fault;
// encoders append to the caller's slice. A payload is hashed once: when it is
// submitted (Scanner, Parser, ParseSubmission), or while it is put together again
// (Reassembler).
//
// Three kinds of input, three kinds of decoder:
//
//   - exact: ParseRecord, ParseFrame, ParseFragment, ParseDelivery and
//     ParseSubmission, or a Parser for many, take one whole unit, as a chunk or a
//     datagram holds it;
//   - incremental: Scanner reads what a publisher sends over a stream,
//     DeliveryScanner what an edge sends to a consumer. How the bytes were cut
//     on their way never changes what comes out;
//   - collecting: Reassembler takes fragments in any order.
//
// Election and Elections decide which consumer gets an object and under which
// topic.
//
// A fault is a *FaultError: the offset of the field at fault, a reason out of a
// fixed set, and one of three sentinels that say what is to be done. ErrShort
// asks for more bytes, ErrMalformed ends a stream, ErrRejected gives up one
// object and keeps the stream.
//
// The package opens nothing, starts nothing and reads no clock: bytes and times
// come from the caller. It never looks into an object beyond its first four
// bytes. Nothing in it is safe for concurrent use unless its comment says so.
package beef
