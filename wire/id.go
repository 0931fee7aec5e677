package wire

import "encoding/hex"

// Topic names a cohort: 32 bytes, whose meaning the cohort's binding fixes
// (PROTOCOL §4).
type Topic [32]byte

// String returns the topic as 64 hex digits.
func (t Topic) String() string { return hex.EncodeToString(t[:]) }

// Overlay is a node's address in the tree (PROTOCOL §1).
type Overlay [32]byte

// String returns the address as 64 hex digits.
func (o Overlay) String() string { return hex.EncodeToString(o[:]) }

// Owner is the Ethereum address of a publisher (PROTOCOL §1).
type Owner [20]byte

// String returns the address as 40 hex digits, without 0x.
func (o Owner) String() string { return hex.EncodeToString(o[:]) }
