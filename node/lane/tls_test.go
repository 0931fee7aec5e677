package lane_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	"treecast/node/lane"
)

// certificate is signed by itself and so its own authority, for servers and clients.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "treecast test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestClientCertificate: a publisher with a trusted certificate gets the door's
// cap, one without gets 1, and one with another certificate nothing.
func TestClientCertificate(t *testing.T) {
	server, roots := certificate(t)
	trusted, clients := certificate(t)
	foreign, _ := certificate(t)
	c := newCohort(t, nil)
	limits := unlimited
	limits.Window, limits.Stall = -1, time.Second
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: limits, Doors: []lane.Door{{
		Addr: "127.0.0.1:0", DeliverCap: 3,
		TLS: &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: clients, ClientAuth: tls.VerifyClientCertIfGiven},
	}}})
	rec := submission(t, "tls", 300, "a", "b", "c", "d")
	for _, test := range []struct {
		name  string
		certs []tls.Certificate
		want  uint8 // DeliverCount; 0: refused
	}{
		{"trusted", []tls.Certificate{trusted}, 3}, {"none", nil, 1}, {"foreign", []tls.Certificate{foreign}, 0},
	} {
		before := len(c.seen())
		cfg := &tls.Config{RootCAs: roots, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if test.certs == nil {
				return new(tls.Certificate), nil
			}
			return &test.certs[0], nil // though the door does not name its authority
		}}
		nc, err := tls.Dial("tcp", in.Addrs()[0].String(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		nc.SetDeadline(time.Now().Add(patience))
		nc.Write(rec)
		nc.CloseWrite()
		if n, _ := nc.Read(make([]byte, 1)); n > 0 {
			t.Errorf("%s: the door answered", test.name)
		}
		nc.Close()
		got := c.seen()[before:]
		if test.want == 0 {
			eventually(t, "refusal counted", func() bool { return in.Counters().Closed[lane.ReasonHandshake] == 1 })
			if len(got) > 0 {
				t.Errorf("%s: taken", test.name)
			}
		} else if len(got) != 1 || got[0][7] != test.want {
			t.Errorf("%s: %d chunks, want one with DeliverCount %d", test.name, len(got), test.want)
		}
	}
	silent := dial(t, in.Addrs()[0]) // never begins its handshake
	awaitClose(t, silent)
}
