package wire

// First is the first frame of a stream: exactly one of Subscribe and Open is
// set (PROTOCOL §2).
type First struct {
	Subscribe *Subscribe
	Open      *Open
	// Wrapped says that it came inside a Hello. The answer is the same bare Ack.
	Wrapped bool
}

// A Hello is read, because it is seen in the field, and never written.
//
//	1 open       Open
//	2 subscribe  Subscribe
const (
	helloOpen      = 1<<3 | bytesType
	helloSubscribe = 2<<3 | bytesType
)

// ParseFirst reads the message of a stream's first frame. It carries no tag, so
// the size of field 1 decides: 32 bytes are a Subscribe's topic; a CohortSpec
// with a topic of 32 bytes is an Open's, whatever else is wrong with it, so that
// it can be answered [StatusRejected]; failing both it may be a Hello around one
// of the two. The result does not refer to msg.
//
// Anything else is a [SyntaxError].
func ParseFirst(msg []byte) (First, error) {
	cohort, err := last(scan("first frame", msg), 1, "CohortSpec")
	if err != nil {
		return First{}, err
	}
	if len(cohort.msg) == len(Topic{}) {
		s, _, err := parseSubscribe(scan("Subscribe", msg))
		return First{Subscribe: s}, err
	}
	topic, err := last(cohort, 1, "topic")
	if err != nil {
		return First{}, err // it would be no Open in a Hello either
	}
	if len(topic.msg) == len(Topic{}) {
		o, _, err := parseOpen(scan("Open", msg))
		return First{Open: o}, err
	}
	return parseHello(msg)
}

// last returns the value that counts of the bytes field number, as the message
// name; an empty one if there is none.
func last(f fields, number uint64, name string) (val fields, err error) {
	for f.next() {
		if f.tag == number<<3|bytesType {
			val = f.sub(name)
		}
	}
	return val, f.err
}

// parseHello takes exactly one of the two fields, once: a message with more of
// them is something else that happens to decode.
func parseHello(msg []byte) (First, error) {
	f := scan("Hello", msg)
	var inner fields
	var open bool
	for n := 0; f.next(); {
		if number := f.tag >> 3; number != 1 && number != 2 {
			continue
		}
		if n++; n > 1 {
			return First{}, f.fault(f.start, "more than one of open and subscribe")
		}
		switch f.tag {
		case helloOpen:
			inner, open = f.sub("Open"), true
		case helloSubscribe:
			inner = f.sub("Subscribe")
		default:
			return First{}, f.fault(f.start, "open or subscribe that is no message")
		}
	}
	switch {
	case f.err != nil:
		return First{}, f.err
	case inner.name == "":
		return First{}, f.fault(len(msg), "neither Open nor Subscribe")
	}
	first := First{Wrapped: true}
	var ok bool
	var err error
	if open {
		first.Open, ok, err = parseOpen(inner)
	} else {
		first.Subscribe, ok, err = parseSubscribe(inner)
	}
	if err == nil && !ok {
		err = inner.fault(0, "no topic of 32 bytes")
	}
	if err != nil {
		return First{}, err
	}
	return first, nil
}
