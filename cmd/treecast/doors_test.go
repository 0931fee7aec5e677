package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"treecast/wire/beef"
)

// freePort is a loopback address that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// connect dials until somebody listens.
func connect(t *testing.T, addr string) net.Conn {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
			return conn
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func objectOf(n int) []byte { return fmt.Appendf([]byte{1, 0, 0xBE, 0xEF}, "object %d", n) }

func deliveryOf(t *testing.T, object []byte) []byte {
	t.Helper()
	record, err := beef.AppendRecord(nil, []string{"tm_ship"}, object)
	if err != nil {
		t.Fatal(err)
	}
	return beef.AppendDelivery(nil, &beef.Delivery{TopicID: beef.TopicIDOf("tm_ship"), Payload: record})
}

func TestReceiveKeepsObjectsAndEndsAtTheCount(t *testing.T) {
	addr, out := freePort(t), t.TempDir()
	result := make(chan outcome, 1)
	go func() {
		result <- execute(t, t.Context(), nil, nil, "receive", "--listen", addr, "--out", out, "--count", "3", "--timeout", "10s", "--json")
	}()
	conn := connect(t, addr)
	for _, n := range []int{1, 2, 2, 3} {
		conn.Write(deliveryOf(t, objectOf(n)))
	}
	got := <-result
	if got.code != exitOK {
		t.Fatalf("exit %d: %s", got.code, got.stderr)
	}
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	var summary receivedSummary
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &summary); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 5 || summary.Objects != 3 || summary.Records != 4 || summary.Duplicates != 1 || !summary.Summary {
		t.Errorf("%d lines, summary %+v", len(lines), summary)
	}
	for n := 1; n <= 3; n++ {
		hash := sha256.Sum256(objectOf(n))
		kept, err := os.ReadFile(filepath.Join(out, hex.EncodeToString(hash[:])))
		if err != nil || !bytes.Equal(kept, objectOf(n)) {
			t.Errorf("object %d: %q, %v", n, kept, err)
		}
	}
}

func TestReceiveRefusesABadRecordWithItsOffset(t *testing.T) {
	addr := freePort(t)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan outcome, 1)
	go func() { result <- execute(t, ctx, nil, nil, "receive", "--listen", addr) }()
	conn := connect(t, addr)
	good := deliveryOf(t, objectOf(1))
	conn.Write(append(good, make([]byte, 36)...))
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF && err == nil {
		t.Errorf("connection after a malformed record: %v", err)
	}
	cancel()
	got := <-result
	want := fmt.Sprintf("at byte %d", len(good)+32)
	if got.code != exitFailure || !strings.Contains(got.stderr, want) || !strings.Contains(got.stdout, "1 objects") {
		t.Errorf("exit %d, stdout %q, stderr %q, want %q", got.code, got.stdout, got.stderr, want)
	}
}

func TestReceiveFailsWhenTooFewCome(t *testing.T) {
	got := execute(t, t.Context(), nil, nil, "receive", "--listen", "127.0.0.1:0", "--count", "1", "--timeout", "20ms", "--log-level", "error")
	if got.code != exitFailure || len(got.lines()) != 1 || !strings.Contains(got.stderr, "0 of 1 objects") {
		t.Errorf("exit %d: %q", got.code, got.stderr)
	}
}

func TestReceiveNamesThePortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	got := execute(t, t.Context(), nil, nil, "receive", "--listen", ln.Addr().String())
	if got.code != exitFailure || !strings.Contains(got.stderr, ln.Addr().String()) || !strings.Contains(got.stderr, "in use") {
		t.Errorf("exit %d: %q", got.code, got.stderr)
	}
}

func TestSubmitSendsFilesAsRecords(t *testing.T) {
	dir := t.TempDir()
	var files []string
	var want []byte
	for n := range 3 {
		name := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(name, objectOf(n), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
		want, _ = beef.AppendRecord(want, []string{"tm_a", "tm_b"}, objectOf(n))
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	got := make(chan []byte, 1)
	go func() {
		if conn, err := ln.Accept(); err == nil {
			b, _ := io.ReadAll(conn)
			got <- b
			conn.Close()
		}
	}()
	args := append([]string{"submit", "--to", ln.Addr().String(), "--topics", "tm_a,tm_b", "--rate", "1000", "--progress", "--json"}, files...)
	res := execute(t, t.Context(), nil, nil, args...)
	var summary submitSummary
	if err := json.Unmarshal([]byte(res.stdout), &summary); err != nil || res.code != exitOK || summary.Objects != 3 {
		t.Fatalf("exit %d, %+v, %v: %s", res.code, summary, err, res.stderr)
	}
	if b := <-got; !bytes.Equal(b, want) {
		t.Errorf("sent %x", b)
	}
	if !strings.Contains(res.stderr, "3/3") {
		t.Errorf("progress %q", res.stderr)
	}
}

func TestSubmitRefusesWhatIsNoObject(t *testing.T) {
	name := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(name, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := execute(t, t.Context(), nil, nil, "submit", "--to", freePort(t), "--topics", "a", name)
	if got.code != exitFailure || len(got.lines()) != 1 || !strings.Contains(got.stderr, "marks no BEEF object") {
		t.Errorf("exit %d: %q", got.code, got.stderr)
	}
}
