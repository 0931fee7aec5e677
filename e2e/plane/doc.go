// Package plane holds the BEEF plane to what it promises, from outside: processes
// of the built binary, publishers and consumers that know the layouts of BRC-149
// and nothing of ours (PROTOCOL §7 and §8).
//
// Its publishers and consumers are written from the layouts, byte by byte, and use
// none of the module's codecs: were both ends wrong in the same way, nobody would
// see it. What a consumer must get is told by the objects alone: each carries its
// set and its number, and the rest of its bytes follow from these.
package plane
