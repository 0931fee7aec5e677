package wire

import (
	"bytes"
	"fmt"
	"slices"
)

// MaxPublishers is the longest publisher list a valid spec has (PROTOCOL §4).
const MaxPublishers = 256

// Binding says how a cohort's topic and its chunks' ids hang together
// (PROTOCOL §4). Other values than those named are invalid.
type Binding uint8

// Bindings.
const (
	BindingAnchor    Binding = 1 // topic = address of the single-owner chunk
	BindingSocID     Binding = 2 // topic = id
	BindingOwner     Binding = 3 // topic = keccak256(owner)
	BindingFeedTopic Binding = 4 // id = keccak256(topic, index)
)

// String returns the name of PROTOCOL §3.
func (b Binding) String() string {
	return enumName("binding", uint8(b), "ANCHOR", "SOC_ID", "OWNER", "FEED_TOPIC")
}

// Regime says whose chunks a cohort carries (PROTOCOL §4). Other values than
// those named are invalid.
type Regime uint8

// Regimes.
const (
	RegimeExplicitSingle Regime = 1 // the admin's
	RegimeExplicitList   Regime = 2 // the admin's and those of the owners listed
	RegimeImplicit       Regime = 3 // those of any owner the binding's shape admits
	RegimeAll            Regime = 4 // everybody's
)

// String returns the name of PROTOCOL §3.
func (r Regime) String() string {
	return enumName("regime", uint8(r), "EXPLICIT_SINGLE", "EXPLICIT_LIST", "IMPLICIT", "ALL")
}

// enumName names the value v of an enum whose names start at 1.
func enumName(enum string, v uint8, names ...string) string {
	if v == 0 || int(v) > len(names) {
		return fmt.Sprintf("%s(%d)", enum, v)
	}
	return names[v-1]
}

// Spec is a CohortSpec as it came. Only the topic's size is certain: whether the
// rest is valid is for the one who answers to say, with [StatusRejected].
//
//	1 topic           bytes, 32
//	2 binding         enum
//	3 publishers      enum
//	4 history         bool
//	5 admin           bytes, 20
//	6 publisher_list  repeated bytes, 20 each
//	8 closed          bool
//
// (PROTOCOL §3 CohortSpec)
type Spec struct {
	Topic   Topic
	Binding Binding // 0 if absent or above 255
	Regime  Regime  // 0 if absent or above 255
	History bool
	// Admin is nil if absent, of any length otherwise.
	Admin []byte
	// Publishers has entries of any length, MaxPublishers + 1 of them at most:
	// one too many shows that the list is too long.
	Publishers [][]byte
	Closed     bool
}

const (
	specTopic      = 1<<3 | bytesType
	specBinding    = 2<<3 | varintType
	specRegime     = 3<<3 | varintType
	specHistory    = 4<<3 | varintType
	specAdmin      = 5<<3 | bytesType
	specPublishers = 6<<3 | bytesType
	specClosed     = 8<<3 | varintType
)

// Equal reports whether both specs fix the same cohort, or both are nil. The
// publisher list is a set: its order says nothing.
func (x *Spec) Equal(y *Spec) bool {
	if x == nil || y == nil {
		return x == y
	}
	return x.Topic == y.Topic && x.Binding == y.Binding && x.Regime == y.Regime &&
		x.History == y.History && x.Closed == y.Closed && bytes.Equal(x.Admin, y.Admin) &&
		slices.EqualFunc(sorted(x.Publishers), sorted(y.Publishers), bytes.Equal)
}

func sorted(list [][]byte) [][]byte {
	if slices.IsSortedFunc(list, bytes.Compare) {
		return list
	}
	list = slices.Clone(list)
	slices.SortFunc(list, bytes.Compare)
	return list
}

// Clone returns a copy that shares no memory with x.
func (x *Spec) Clone() *Spec {
	c := *x
	c.Admin = bytes.Clone(x.Admin)
	c.Publishers = cloneList(x.Publishers)
	return &c
}

// Append appends the CohortSpec message to dst.
func (x *Spec) Append(dst []byte) []byte {
	dst = appendBytes(dst, specTopic, x.Topic[:])
	dst = appendUint(dst, specBinding, uint64(x.Binding))
	dst = appendUint(dst, specRegime, uint64(x.Regime))
	dst = appendBool(dst, specHistory, x.History)
	dst = appendBytes(dst, specAdmin, x.Admin)
	for _, p := range x.Publishers {
		dst = appendEntry(dst, specPublishers, p)
	}
	return appendBool(dst, specClosed, x.Closed)
}

// parseSpec reads the message that f stands before. hasTopic says whether its
// topic has 32 bytes, without which it is no spec.
func parseSpec(f fields) (spec Spec, hasTopic bool, err error) {
	var publishers [MaxPublishers + 1][]byte
	n := 0
	for f.next() {
		switch f.tag {
		case specTopic:
			if hasTopic = len(f.val) == len(spec.Topic); hasTopic {
				spec.Topic = Topic(f.val)
			}
		case specBinding:
			spec.Binding = Binding(f.enum())
		case specRegime:
			spec.Regime = Regime(f.enum())
		case specHistory:
			spec.History = f.num != 0
		case specAdmin:
			spec.Admin = nonEmpty(f.val)
		case specPublishers:
			if n < len(publishers) {
				publishers[n] = f.val
				n++
			}
		case specClosed:
			spec.Closed = f.num != 0
		}
	}
	if f.err != nil {
		return Spec{}, false, f.err
	}
	spec.Admin = bytes.Clone(spec.Admin)
	spec.Publishers = cloneList(publishers[:n])
	return spec, hasTopic, nil
}

// nonEmpty makes no difference between an empty field and an absent one, as
// proto3 does not.
func nonEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// cloneList copies a list into one allocation for its bytes and one for itself.
func cloneList(list [][]byte) [][]byte {
	if len(list) == 0 {
		return nil
	}
	size := 0
	for _, b := range list {
		size += len(b)
	}
	all := make([]byte, 0, size)
	out := make([][]byte, len(list))
	for i, b := range list {
		at := len(all)
		all = append(all, b...)
		out[i] = all[at:len(all):len(all)]
	}
	return out
}
