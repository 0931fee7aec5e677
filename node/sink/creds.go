package sink

import (
	"crypto/x509"
	"fmt"
	"os"

	"github.com/nats-io/nkeys"
)

// CheckCreds looks for the key in a file of NATS user credentials. The error quotes
// nothing of the file.
func CheckCreds(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	key, err := nkeys.ParseDecoratedUserNKey(b)
	clear(b)
	if err != nil {
		return fmt.Errorf("%s: no user key in it", path)
	}
	key.Wipe()
	return nil
}

// ReadCA reads a PEM file of authorities.
func ReadCA(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate in it", path)
	}
	return pool, nil
}
