package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outcome is what one command line came to.
type outcome struct {
	code           int
	stdout, stderr string
}

// lines are the lines on stderr.
func (o outcome) lines() []string {
	if o.stderr == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(o.stderr, "\n"), "\n")
}

// execute runs one command line in this process, with the environment env.
func execute(t *testing.T, ctx context.Context, stdin io.Reader, env []string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(ctx, args, environment{
		stdin: stdin, stdout: &stdout, stderr: &stderr, environ: func() []string { return env },
	})
	return outcome{code: code, stdout: stdout.String(), stderr: stderr.String()}
}

// aPeer is an entry that nobody answers at.
const aPeer = "@/ip4/127.0.0.1/tcp/1/p2p/16Uiu2HAmUdWfLLF1Y2mJRCqmhXAMiGWFVsAFzTYUg3sYXrKJXwZA"

func TestWrongUsageIsOneLineAFaultAndExit2(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		args string
		want []string // a part of each line
	}{
		{"", []string{"no command given"}},
		{"fly", []string{`unknown command "fly"`}},
		{"version extra", []string{`unknown command "extra"`}},
		{"version --colour", []string{"unknown flag: --colour"}},
		{"version --log-level loud", []string{`--log-level: "loud"`}},
		{"version --log-format xml", []string{`--log-format: "xml"`}},
		{"decode --hex zz", []string{"--hex"}},
		{"decode --hex 00 file", []string{"both --hex and a file"}},
		{"decode --as music --hex 00", []string{`--as "music"`}},
		{"decode --address 00 --hex 00", []string{"--address"}},
		{"submit", []string{"requires at least 1 arg"}},
		{"submit --proto quic --rate -1 f", []string{"--to is missing", `--proto "quic"`, "--rate", "--topics: 0 names"}},
		{"submit --to x --topics a --wait f", []string{"go with --proto http"}},
		{"receive --from :1 --token-file t", []string{"--token-file goes with a URL"}},
		{"receive", []string{"neither --listen nor --from"}},
		{"receive --listen :1 --from :2 --topics a --count -1", []string{"both --listen", "--topics", "--count"}},
		{"receive --listen :1 --resume a", []string{"--resume go with --from"}},
		{"sub", []string{"accepts 1 arg"}},
		{"sub beef --since -1 --format xml --count -1", []string{"--since", "--format", "--count"}},
		{"sub beef --json --format raw", []string{"--json goes with"}},
		{"demo --leave -1", []string{"--leave -1 is negative"}},
		{"demo --kill 1 --leave 17", []string{"--kill 1, --leave 17: there are 17 relays"}},
		{"tree --dot --svg x.svg", []string{"more than one of --dot, --svg and --json"}},
		{"demo --nodes 3 --capacity 2 --rate 0", []string{"--capacity 2", "--nodes 3", "--rate 0"}},
		{"demo --kill 99", []string{"--kill 99: there are 17 relays"}},
		{"demo --nodes 40 --capacity 3 --consumers 36", []string{"too few slots"}},
		{"demo --objects many", []string{`invalid argument "many"`}},
		{"node", []string{"neither --broker nor --join"}},
		{"node --broker --capacity 0", []string{"--capacity 0: a broker must relay"}},
		{"node --broker --capacity 2 --parents 3", []string{"--capacity 2", "--parents 3"}},
		{"node --join beef", []string{`--join "beef"`}},
		{"node --join beef@/ip4/1.2.3.4/tcp/1", []string{"ends in /p2p/PEER"}},
		{"node --broker --shard-bits 16", []string{"--shard-bits 16: want 0 to 15"}},
		{"node --broker --ingress-tcp --shard-bits 13", []string{"--groups names them"}},
		{"node --broker --ingress-tcp --shard-bits 2 --groups 1004", []string{`--groups "1004": want groups from 1000 to 1003`}},
		{"node --broker --ingress-tcp --shard-bits 2 --groups 1003-1001", []string{"1003 is above 1001"}},
		{"node --join beef" + aPeer + " --shard-bits 2", []string{"which groups to relay"}},
		{"node --join beef" + aPeer + " --shard-bits 2 --egress-dial all@h:1=*", []string{"a lane for all topics needs --groups"}},
		{"node --broker --ingress-tcp --deliver-cap 2", []string{"--deliver-cap 2: for whom?"}},
		{"node --broker --ingress-tcp --deliver-cap 16 --ingress-allow ::1,x", []string{`--ingress-allow "x"`, "--deliver-cap 16"}},
		{"node --broker --ingress-udp --ingress-allow ::1", []string{"without a TCP door"}},
		{"node --broker --ingress-tcp --ingress-client-ca x", []string{"go together"}},
		{"node --broker --ingress-token-file " + dir + "/none", []string{"no such file", "without --api"}},
		{"decode --hex 00 --shard-bits 16", []string{"--shard-bits 16"}},
		{"node --broker --egress-listen :1", []string{"an egress needs the BEEF cohort"}},
		{"node --broker --egress-dial nobody", []string{"--egress-dial", "an egress needs the BEEF cohort"}},
		{"node --broker --admin 12 --publishers xy", []string{"--admin", "--publishers"}},
		{"node --broker --open-policy list", []string{"go together"}},
		{"node --broker --listen here --api there", []string{`--listen "here"`, `--api "there"`}},
		{"node --broker --sender 1.2.3.4", []string{`--sender "1.2.3.4"`, "no ingress"}},
		{"node --ingress-tcp 127.0.0.1:0", []string{"neither --broker", "an ingress needs the BEEF cohort"}},
		{"node --broker --config " + dir + "/none", []string{"no such file"}},
	} {
		t.Run(tc.args, func(t *testing.T) {
			got := execute(t, t.Context(), nil, []string{"HOME=" + dir}, strings.Fields(tc.args)...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("exit %d, stdout %q", got.code, got.stdout)
			}
			lines := got.lines()
			if len(lines) != len(tc.want) {
				t.Fatalf("%d lines, want %d:\n%s", len(lines), len(tc.want), got.stderr)
			}
			for i, want := range tc.want {
				if !strings.HasPrefix(lines[i], "treecast: ") || !strings.Contains(lines[i], want) {
					t.Errorf("line %q, want %q", lines[i], want)
				}
			}
		})
	}
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	root := newRootCommand(&app{})
	for _, cmd := range root.Commands() {
		if cmd.Hidden {
			continue
		}
		got := execute(t, t.Context(), nil, nil, cmd.Name(), "--help")
		if got.code != exitOK || !strings.Contains(got.stdout, "Examples:\n  ") || !strings.Contains(got.stdout, "treecast "+cmd.Name()) {
			t.Errorf("%s --help: exit %d\n%s%s", cmd.Name(), got.code, got.stdout, got.stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	got := execute(t, t.Context(), nil, nil, "version", "--json")
	var facts buildFacts
	if err := json.Unmarshal([]byte(got.stdout), &facts); err != nil || facts.Go == "" || facts.Platform == "" {
		t.Errorf("%q: %v", got.stdout, err)
	}
	if got := execute(t, t.Context(), nil, nil, "version"); !strings.HasPrefix(got.stdout, "treecast ") {
		t.Errorf("%q", got.stdout)
	}
}

func TestDecode(t *testing.T) {
	const record = "beef010107746d5f73686970000000080100beefaabbccdd"
	good := execute(t, t.Context(), nil, nil, "decode", "--hex", "0x"+record)
	if good.code != exitOK || !strings.Contains(good.stdout, "submission record, 24 bytes") || !strings.Contains(good.stdout, `"tm_ship"`) {
		t.Errorf("exit %d: %s%s", good.code, good.stdout, good.stderr)
	}
	sharded := execute(t, t.Context(), nil, nil, "decode", "--shard-bits", "15", "--hex", record)
	if !strings.Contains(good.stdout, "ff0e::b:1000 at 0 shard bits") || !strings.Contains(sharded.stdout, " at 15 shard bits") || strings.Contains(sharded.stdout, "b:1000 ") {
		t.Errorf("groups: %s%s", good.stdout, sharded.stdout)
	}
	bad := execute(t, t.Context(), strings.NewReader("\xbe\xef\x02"), nil, "decode", "--json")
	var report struct{ Fault struct{ Offset int } }
	if err := json.Unmarshal([]byte(bad.stdout), &report); err != nil || report.Fault.Offset != 2 {
		t.Errorf("%q: %v", bad.stdout, err)
	}
	if lines := bad.lines(); bad.code != exitFailure || len(lines) != 1 || !strings.Contains(lines[0], "byte 2") {
		t.Errorf("exit %d: %q", bad.code, lines)
	}
	file := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := execute(t, t.Context(), nil, nil, "decode", file); got.code != exitFailure || !strings.Contains(got.stderr, "byte 0: no bytes") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	if got := execute(t, t.Context(), nil, nil, "decode", file+".not"); got.code != exitFailure || len(got.lines()) != 1 {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}
