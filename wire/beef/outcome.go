package beef

// Outcome is what became of a fragment, or of a slot that a Reassembler gave
// up.
type Outcome uint8

// The outcomes. Those of a fragment are returned by Reassembler.Add; OutcomeAge,
// OutcomeSlots and OutcomeBytes are those of a slot, of which the last may be a
// fragment's as well.
const (
	// OutcomeHeld: kept, more fragments are needed.
	OutcomeHeld Outcome = iota
	// OutcomeComplete: the payload is whole and its hash is right.
	OutcomeComplete
	// OutcomeDuplicate: the slot has this fragment; the first copy stays.
	OutcomeDuplicate
	// OutcomeLate: the object was completed a short while ago.
	OutcomeLate
	// OutcomeUnwanted: fragment 0 showed that nobody here wants the object.
	OutcomeUnwanted
	// OutcomeOverBound: the payload is longer than the bound.
	OutcomeOverBound
	// OutcomeUneven: the numbers fit no even cut of a payload.
	OutcomeUneven
	// OutcomeDisagrees: the numbers are not those of the slot.
	OutcomeDisagrees
	// OutcomeHash: the payload is whole but its hash is not ContentID; the slot
	// was given up.
	OutcomeHash
	// OutcomeAge: a slot saw no new fragment for too long.
	OutcomeAge
	// OutcomeSlots: a slot made room for another one.
	OutcomeSlots
	// OutcomeBytes: a slot made room for bytes of another one, or is larger
	// than all the room there is.
	OutcomeBytes

	outcomeCount
)

var outcomeNames = [outcomeCount]string{
	"held", "complete", "duplicate", "late", "unwanted", "over_bound", "uneven",
	"disagrees", "hash_mismatch", "age", "slots", "bytes",
}

// String is the outcome's name, fit for the label of a metric.
func (o Outcome) String() string {
	if o >= outcomeCount {
		return "unknown"
	}
	return outcomeNames[o]
}

// Outcomes returns all outcomes in a fixed order.
func Outcomes() []Outcome {
	all := make([]Outcome, outcomeCount)
	for i := range all {
		all[i] = Outcome(i)
	}
	return all
}
