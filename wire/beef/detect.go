package beef

// Grammar is what the leading bytes of a connection or datagram announce
// (PROTOCOL §7 Ingress doors).
//
//	leading bytes  grammar
//	BE EF          submission records
//	E3 E1 F3 E8    object frames
//	anything else  a bare transaction, which this plane refuses
type Grammar uint8

// The grammars. GrammarUndecided is for bytes that may still become two of
// them.
const (
	GrammarUndecided Grammar = iota
	GrammarRecord
	GrammarFrame
	GrammarBareTx
)

// String is the grammar's name: undecided, beef_record, framed or bare_tx.
func (g Grammar) String() string {
	switch g {
	case GrammarRecord:
		return "beef_record"
	case GrammarFrame:
		return "framed"
	case GrammarBareTx:
		return "bare_tx"
	}
	return "undecided"
}

// Detect tells the grammar by the leading bytes of b, as soon as they leave no
// other choice.
func Detect(b []byte) Grammar {
	switch {
	case len(b) == 0:
		return GrammarUndecided
	case leads(b, recordTag[:]):
		return decided(b, len(recordTag), GrammarRecord)
	case leads(b, magic[:]):
		return decided(b, len(magic), GrammarFrame)
	}
	return GrammarBareTx
}

// leads tells whether b agrees with lead as far as both go.
func leads(b, lead []byte) bool {
	n := min(len(b), len(lead))
	return string(b[:n]) == string(lead[:n])
}

func decided(b []byte, need int, g Grammar) Grammar {
	if len(b) < need {
		return GrammarUndecided
	}
	return g
}
