package beef

// Parser is ParseSubmission for a door that takes many units, one after the other:
// it need not hash a topic name that the unit before had too. It is not safe for
// concurrent use.
type Parser struct {
	bound int64
	names lastName
}

// NewParser returns a Parser. maxObject is the bound on the object in bytes, 0 for
// DefaultMaxObject (PROTOCOL §7 Ingress doors); the error says that it is out of
// range.
func NewParser(maxObject int) (*Parser, error) {
	bound, err := objectBound(maxObject)
	if err != nil {
		return nil, err
	}
	return &Parser{bound: bound}, nil
}

// Parse decodes one record or object frame that fills b. The error is a
// *FaultError.
func (p *Parser) Parse(b []byte) (s Submission, err error) {
	if f := parseSubmission(&s, b, p.bound, &p.names); !f.none() {
		return Submission{}, f.raise()
	}
	return s, nil
}

// lastName remembers the TopicID of the name asked for last, as publishers mostly
// send to one topic. A hash of a name takes a fifth of those of a small object.
type lastName struct {
	name [MaxTopicName]byte
	size int // 0: none
	id   TopicID
}

// topicID is topicIDOf for a name of 1 to MaxTopicName bytes; a nil lastName
// remembers nothing.
func (l *lastName) topicID(name []byte) TopicID {
	if l == nil {
		return topicIDOf(name)
	}
	if string(name) != string(l.name[:l.size]) {
		l.id = topicIDOf(name)
		l.size = copy(l.name[:], name)
	}
	return l.id
}
