package lane

import (
	"errors"
	"net/url"

	"treecast/wire/beef"
)

// ParseElection reads the topics and versions of a query, as GET /deliver has them;
// neither elects everything. Other names are errors. The error quotes what is
// wrong.
func ParseElection(q url.Values) (beef.Election, error) {
	for _, name := range []string{"format", "resume"} {
		if q.Has(name) {
			return beef.Election{}, errors.New("lane: query: \"" + name + "\": it is for consumers that connect")
		}
	}
	r, err := parseQuery(q)
	if err != nil {
		return beef.Election{}, err
	}
	e, _, err := r.Election()
	return e, err
}
