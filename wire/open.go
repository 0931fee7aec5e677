package wire

// Open asks the receiver to serve a new cohort, or to take the sender into one
// with this very spec.
//
//	1 cohort  CohortSpec
//	2 auth    PublisherAuth
//
// (PROTOCOL §3 Open)
type Open struct {
	Spec Spec
	Auth *Auth // nil if absent
}

const (
	openCohort = 1<<3 | bytesType
	openAuth   = 2<<3 | bytesType
)

// Append appends the Open message to dst.
func (x *Open) Append(dst []byte) []byte {
	dst = appendMessage(dst, openCohort, x.Spec.Append)
	if x.Auth != nil {
		dst = appendMessage(dst, openAuth, x.Auth.append)
	}
	return dst
}

// parseOpen reads the message that f stands before. hasSpec says whether it has
// a cohort with a topic of 32 bytes, without which it is no Open.
func parseOpen(f fields) (x *Open, hasSpec bool, err error) {
	x = new(Open)
	var spec, auth fields
	for f.next() {
		switch f.tag {
		case openCohort:
			spec = f.sub("CohortSpec")
			err = spec.end()
		case openAuth:
			auth = f.sub("PublisherAuth")
			err = auth.end()
		}
		if err != nil {
			return nil, false, err
		}
	}
	if f.err != nil {
		return nil, false, f.err
	}
	if x.Spec, hasSpec, err = parseSpec(spec); err != nil {
		return nil, false, err
	}
	x.Auth, err = parseAuth(auth)
	return x, hasSpec, err
}
