package jetstream_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"treecast/e2e/cluster"
	"treecast/node/sink"
)

// certificate is signed by itself and so its own authority.
func certificate(t *testing.T) (cert tls.Certificate, caFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "treecast test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, caFile
}

// TestSinkOverTLS: with the right authority all is stored, without it nothing.
func TestSinkOverTLS(t *testing.T) {
	cert, ca := certificate(t)
	n := startServer(t, func(o *server.Options) {
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
		o.TLS, o.TLSTimeout = true, 5
	})
	objects := makeObjects(t, sizesOf(50))
	tlsTo := func(c *sink.Config) { c.Target.Servers[0].Scheme = "tls" }
	stranger := newList(objects)
	s := startSink(t, n.addr(), stranger, tlsTo)
	awaitFailure(t, s, "connect", 2)
	if s.Counters().Connected || stranger.done() > 0 {
		t.Error("connected to a server that nobody vouches for")
	}
	l := newList(objects)
	s = startSink(t, n.addr(), l, func(c *sink.Config) { tlsTo(c); c.CA = ca })
	awaitDone(t, l, s, len(objects))
	checkStream(t, client(t, n, nats.RootCAs(ca)), "BEEF", objects)

	plain := startServer(t, nil)
	s = startSink(t, plain.addr(), newList(objects), tlsTo)
	awaitFailure(t, s, "connect", 2)
	if s.Counters().Connected {
		t.Error("connected without TLS")
	}
}

// logbook is a log to look into.
type logbook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestSinkWithPassword: a wrong one is said and tried again, since the server may
// learn it; no log has it. The same for a token.
func TestSinkWithPassword(t *testing.T) {
	const secret = "s3cr3t"
	for user, set := range map[string]func(o *server.Options, s string){
		"sink:" + secret: func(o *server.Options, s string) { o.Username, o.Password = "sink", s },
		secret:           func(o *server.Options, s string) { o.Authorization = s },
	} {
		n := startServer(t, func(o *server.Options) { set(o, "another") })
		objects := makeObjects(t, sizesOf(50))
		l := newList(objects)
		var log logbook
		s := startSink(t, user+"@"+n.addr(), l, func(c *sink.Config) {
			c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		awaitFailure(t, s, "connect", 2)
		cluster.Eventually(t, limit, "the log says why", func() (bool, string) {
			return strings.Contains(strings.ToLower(log.String()), "authorization violation"), log.String()
		})
		n.restart(t, func(o *server.Options) { set(o, secret) })
		awaitDone(t, l, s, len(objects))
		s.Close()
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has the secret:\n%s", log.String())
		}
	}
}

// TestSinkWithCredentials: a server of an operator's, and a file as its tools write
// it.
func TestSinkWithCredentials(t *testing.T) {
	pair := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		kp, err := make()
		if err != nil {
			t.Fatal(err)
		}
		public, err := kp.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return kp, public
	}
	must := func(s string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	_, systemID := pair(nkeys.CreateAccount)
	account, accountID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	claims := jwt.NewAccountClaims(accountID)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	resolver := &server.MemAccResolver{}
	for id, c := range map[string]*jwt.AccountClaims{accountID: claims, systemID: jwt.NewAccountClaims(systemID)} {
		if err := resolver.Store(id, must(c.Encode(operator))); err != nil {
			t.Fatal(err)
		}
	}
	trusted, err := jwt.DecodeOperatorClaims(must(jwt.NewOperatorClaims(operatorID).Encode(operator)))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	creds, err := jwt.FormatUserConfig(must(jwt.NewUserClaims(userID).Encode(account)), seed)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sink.creds")
	if err := os.WriteFile(file, creds, 0o600); err != nil {
		t.Fatal(err)
	}
	n := startServer(t, func(o *server.Options) {
		o.TrustedOperators, o.AccountResolver, o.SystemAccount = []*jwt.OperatorClaims{trusted}, resolver, systemID
	})
	objects := makeObjects(t, sizesOf(100))
	l := newList(objects)
	s := startSink(t, n.addr(), l, func(c *sink.Config) { c.Creds = file })
	awaitDone(t, l, s, len(objects))
	checkStream(t, client(t, n, nats.UserCredentials(file)), "BEEF", objects)
}

// TestSinkWithLeastRights: what docs/sink.md lists is enough for all that a sink
// does, a look through the stream and objects in the store included.
func TestSinkWithLeastRights(t *testing.T) {
	n := startServer(t, func(o *server.Options) {
		o.MaxPayload = 64 << 10
		o.Users = []*server.User{{Username: "admin", Password: "a"}, {Username: "sink", Password: "s", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: []string{
				"beef.>", "$O.BEEF.>",
				"$JS.API.STREAM.INFO.BEEF", "$JS.API.STREAM.CREATE.BEEF", "$JS.API.STREAM.PURGE.BEEF", "$JS.API.STREAM.MSG.GET.BEEF",
				"$JS.API.STREAM.INFO.OBJ_BEEF", "$JS.API.STREAM.CREATE.OBJ_BEEF", "$JS.API.STREAM.PURGE.OBJ_BEEF", "$JS.API.STREAM.MSG.GET.OBJ_BEEF",
				"$JS.API.DIRECT.GET.>",
				"$JS.API.CONSUMER.CREATE.BEEF.>", "$JS.API.CONSUMER.MSG.NEXT.BEEF.>", "$JS.API.CONSUMER.DELETE.BEEF.>",
			}},
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
		}}}
	})
	w := newCable(t, n.addr())
	objects := makeObjects(t, sizesOf(400))
	l := newList(objects)
	for i := 1; i <= 4; i++ {
		l.show(100 * i)
		s := startSink(t, "sink:s@"+w.Addr().String(), l, nil)
		awaitDone(t, l, s, 100*i-60)
		w.cut()
		awaitDone(t, l, s, 100*i-30)
		s.Close()
		l.reopen(20)
	}
	s := startSink(t, "sink:s@"+w.Addr().String(), l, nil)
	awaitDone(t, l, s, len(objects))
	checkStream(t, client(t, n, nats.UserInfo("admin", "a")), "BEEF", objects)
	if s.Counters().Known == 0 {
		t.Error("nothing was looked for in the stream")
	}
}
