package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"treecast/cmd/treecast/internal/beefnode"
)

// parseNode reads the flags of `treecast node`.
func parseNode(t *testing.T, args ...string) (beefnode.Config, error) {
	t.Helper()
	var f nodeFlags
	cmd := &cobra.Command{Use: "node"}
	f.register(cmd)
	if err := cmd.ParseFlags(append([]string{"--data-dir", t.TempDir()}, args...)); err != nil {
		t.Fatal(err)
	}
	return f.parse(cmd.Flags().Changed("capacity"))
}

// pemFiles makes a certificate signed by itself and its key.
func pemFiles(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert", "CERTIFICATE", der), write("key", "PRIVATE KEY", secret)
}

// TestDoorPolicies: allowed addresses, certificates and the cap are the TCP doors',
// never the UDP door's.
func TestDoorPolicies(t *testing.T) {
	cert, key := pemFiles(t)
	cfg, err := parseNode(t, "--broker", "--ingress-tcp", "--ingress-record", "--ingress-udp", "--deliver-cap", "3",
		"--ingress-allow", "192.0.2.1,2001:db8::/32", "--ingress-tls-cert", cert, "--ingress-tls-key", key, "--ingress-client-ca", cert)
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Doors) != 3 || !cfg.Doors[1].RecordsOnly || !cfg.Doors[2].UDP {
		t.Fatalf("%+v", cfg.Doors)
	}
	for _, d := range cfg.Doors[:2] {
		if d.DeliverCap != 3 || len(d.Allow) != 2 || d.Allow[0].String() != "192.0.2.1/32" ||
			d.TLS == nil || d.TLS.ClientAuth != tls.RequireAndVerifyClientCert || d.TLS.ClientCAs == nil {
			t.Errorf("%+v", d)
		}
	}
	if d := cfg.Doors[2]; d.DeliverCap != 0 || d.Allow != nil || d.TLS != nil {
		t.Errorf("%+v", d)
	}
	if _, err := parseNode(t, "--broker", "--ingress-tcp", "--ingress-tls-cert", cert, "--ingress-tls-key", key, "--ingress-client-ca", key); err == nil {
		t.Error("a key for an authority")
	}
}

func TestGroupLists(t *testing.T) {
	for list, want := range map[string][]uint32{
		"1002": {0x1002}, "0x1000,1003": {0x1000, 0x1003}, "1001-1003": {0x1001, 0x1002, 0x1003},
		"all": {0x1000, 0x1001, 0x1002, 0x1003},
	} {
		cfg, err := parseNode(t, "--broker", "--ingress-tcp", "--shard-bits", "2", "--groups", list)
		if err != nil || !slices.Equal(cfg.Groups, want) {
			t.Errorf("%s: %#x, %v, want %#x", list, cfg.Groups, err, want)
		}
	}
}
