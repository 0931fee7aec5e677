package bearer

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// maxToken is the most bytes of a token.
const maxToken = 4 << 10

// A Token is what a request has to carry. It keeps a hash of the secret alone,
// so printing one gives nothing away.
type Token struct{ sum [sha256.Size]byte }

// New returns the token of a secret: 1..4096 bytes, white space around it not
// counted. The error names the length.
func New(secret string) (*Token, error) {
	secret = strings.TrimSpace(secret)
	if secret == "" || len(secret) > maxToken {
		return nil, fmt.Errorf("bearer: a token of %d bytes, want 1 to %d", len(secret), maxToken)
	}
	return &Token{sha256.Sum256([]byte(secret))}, nil
}

// Read returns the token in a file. The error names the file.
func Read(path string) (*Token, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("bearer: token file: %w", err)
	}
	t, err := New(string(text))
	if err != nil {
		return nil, fmt.Errorf("bearer: token file %s: %w", path, err)
	}
	return t, nil
}

// In tells whether the request carries the token. The comparison takes the same
// time wherever the two differ.
func (t *Token) In(r *http.Request) bool {
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(got[:], t.sum[:]) == 1 && ok
}

// Challenge says in the answer's header that a token is wanted; the status, 401,
// is the caller's to write.
func Challenge(w http.ResponseWriter) { w.Header().Set("WWW-Authenticate", "Bearer") }
