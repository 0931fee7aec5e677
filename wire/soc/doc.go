// Package soc is Swarm's chunk arithmetic: addresses of content-addressed
// chunks (CAC), and addresses, signatures and the full check of single-owner
// chunks (SOC), with the feed identifiers and overlay addresses that are made
// of the same hash (PROTOCOL §1 and §4).
//
// A single-owner chunk binds a payload to an (id, owner) pair:
//
//	root    = binary Merkle tree of keccak256 over the payload, zero padded to 4096 bytes
//	cac     = keccak256(span || root)        address of the wrapped content
//	hash    = keccak256(id || cac)           what the owner signs, as an EIP-191 message
//	address = keccak256(id || owner)         address of the chunk
//
// Verify accepts exactly one encoding of a chunk. Other clients accept several
// for the same content, and then any relay could alter bytes on the way and
// leave the blame with the author; CheckCanonical lists what is refused.
//
// The package does no I/O, starts nothing and keeps no state besides pooled
// scratch memory; every function is safe for concurrent use. It knows nothing
// of topics, bindings and publishers: whether a valid chunk belongs into a
// cohort is not its question.
//
// Signatures come from libsecp256k1 in builds with cgo and from a pure Go
// implementation in builds without, where a check takes about three times as
// long. Both produce the same bytes. Most of a check is recovering the key, so
// that where the same owners sign again and again VerifyBatch takes their keys,
// and checks against them with the arithmetic of package curve.
//
// The tree is hashed four pairs at once with AVX2 in assembly that a test of this
// package makes, two at once on an arm64 whose SHA-3 instructions the vector
// library uses, else pair by pair.
package soc
