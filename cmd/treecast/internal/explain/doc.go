// Package explain tells what bytes are: frames of the tree's protocol, chunks,
// object frames, fragments, submission and delivery records, BEEF objects
// (PROTOCOL §2 to §4, §7). It names every field with its offset and, where the
// bytes are wrong, the offset of the first field at fault.
//
// Whether bytes are right is the codecs' judgement (packages wire, soc and
// beef); this package finds out which codec to ask and lays the fields out for
// a reader.
package explain
