package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// tlsFlags are the flags of the ingress's TLS.
type tlsFlags struct {
	cert     string
	key      string
	clientCA string
}

func (f *tlsFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.cert, "ingress-tls-cert", "", "PEM file with the certificate of the TCP doors, which then speak TLS")
	flags.StringVar(&f.key, "ingress-tls-key", "", "PEM file with its key")
	flags.StringVar(&f.clientCA, "ingress-client-ca", "",
		"PEM file with the authorities of publishers' certificates, without which the TCP doors then take nothing")
}

// config reads the files; nil without TLS.
func (f *tlsFlags) config() (*tls.Config, error) {
	if f.cert == "" && f.key == "" && f.clientCA == "" {
		return nil, nil
	}
	if f.cert == "" || f.key == "" {
		return nil, fmt.Errorf("--ingress-tls-cert and --ingress-tls-key go together, and --ingress-client-ca with both")
	}
	own, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("--ingress-tls-cert, --ingress-tls-key: %w", err)
	}
	cfg := &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
	if f.clientCA == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(f.clientCA)
	if err != nil {
		return nil, fmt.Errorf("--ingress-client-ca: %w", err)
	}
	cfg.ClientCAs, cfg.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !cfg.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--ingress-client-ca %s: no certificate in it", f.clientCA)
	}
	return cfg, nil
}
