package explain

import (
	"fmt"

	"treecast/wire"
)

// A message is one of PROTOCOL §3 and §6, for showing its fields. What is valid
// is package wire's to say.
type message struct {
	name   string
	fields map[uint64]field
}

// A field of a message: embedded if sub is set, else bytes or, if number is
// set, a varint that number shows.
type field struct {
	name   string
	number func(uint64) string
	sub    *message
}

func plain(v uint64) string   { return fmt.Sprint(v) }
func boolean(v uint64) string { return fmt.Sprint(v != 0) }

func enum[T interface {
	~uint8
	fmt.Stringer
}](v uint64) string {
	if v > 255 {
		return fmt.Sprint(v)
	}
	return T(v).String()
}

func reparentReason(v uint64) string {
	switch uint32(v) {
	case wire.ReasonLeaving:
		return "LEAVING"
	case wire.ReasonDisplaced:
		return "DISPLACED"
	}
	return fmt.Sprint(v)
}

var (
	specMessage = &message{"CohortSpec", map[uint64]field{
		1: {name: "topic"},
		2: {name: "binding", number: enum[wire.Binding]},
		3: {name: "publishers", number: enum[wire.Regime]},
		4: {name: "history", number: boolean},
		5: {name: "admin"},
		6: {name: "publisher_list"},
		8: {name: "closed", number: boolean},
	}}
	authMessage = &message{"PublisherAuth", map[uint64]field{
		1:   {name: "owner"},
		2:   {name: "id"},
		100: {name: "proof"},
	}}
	openMessage = &message{"Open", map[uint64]field{
		1: {name: "cohort", sub: specMessage},
		2: {name: "auth", sub: authMessage},
	}}
	subscribeMessage = &message{"Subscribe", map[uint64]field{
		1:   {name: "topic"},
		2:   {name: "auth", sub: authMessage},
		100: {name: "band", number: plain},
		101: {name: "relays", number: boolean},
		102: {name: "childless", number: boolean},
		103: {name: "round", number: plain},
		104: {name: "named", number: boolean},
		105: {name: "displace", number: boolean},
		106: {name: "version", number: plain},
	}}
	helloMessage = &message{"Hello", map[uint64]field{
		1: {name: "open", sub: openMessage},
		2: {name: "subscribe", sub: subscribeMessage},
	}}
	candidateMessage = &message{"Candidate", map[uint64]field{
		1:   {name: "addr"},
		2:   {name: "depth", number: plain},
		100: {name: "underlays"},
		101: {name: "band", number: plain},
		102: {name: "displaces", number: boolean},
	}}
	ackMessage = &message{"Ack", map[uint64]field{
		1:   {name: "status", number: enum[wire.Status]},
		2:   {name: "cohort", sub: specMessage},
		3:   {name: "candidates", sub: candidateMessage},
		6:   {name: "candidates", sub: candidateMessage},
		100: {name: "band", number: plain},
		101: {name: "heads", sub: &message{"Head", map[uint64]field{
			1: {name: "owner"},
			2: {name: "index", number: plain},
		}}},
	}}
	broadcastMessage = &message{"Broadcast", map[uint64]field{
		1: {name: "soc", sub: &message{"Soc", map[uint64]field{
			1:   {name: "id"},
			2:   {name: "owner"},
			3:   {name: "signature"},
			4:   {name: "span"},
			5:   {name: "payload"},
			100: {name: "index", number: plain},
		}}},
		2: {name: "reparent", sub: &message{"Reparent", map[uint64]field{
			1:   {name: "to"},
			100: {name: "reason", number: reparentReason},
		}}},
		3: {name: "probe", sub: &message{"Probe", map[uint64]field{
			1:   {name: "depth", number: plain},
			100: {name: "id", number: plain},
			101: {name: "budget", number: plain},
			102: {name: "hops", number: plain},
			103: {name: "up", number: boolean},
			104: {name: "deadline_ms", number: plain},
			105: {name: "bound_band", number: plain},
			106: {name: "asker"},
			107: {name: "childless", number: boolean},
		}}},
		4: {name: "found", sub: &message{"Candidates", map[uint64]field{
			1:   {name: "candidates", sub: candidateMessage},
			100: {name: "id", number: plain},
		}}},
	}}
)
