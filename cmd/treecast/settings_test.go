package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// settled applies the layers to the flags of a node and returns them.
func settled(t *testing.T, args, env []string, yaml string) (*nodeFlags, *cobra.Command, error) {
	t.Helper()
	var f nodeFlags
	cmd := &cobra.Command{}
	f.register(cmd)
	if yaml != "" {
		path := filepath.Join(t.TempDir(), "node.yaml")
		if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	if err := cmd.ParseFlags(bindAddresses(args)); err != nil {
		t.Fatal(err)
	}
	return &f, cmd, applySettings(cmd, func() []string { return env })
}

func TestFlagsBeatEnvironmentBeatsFileBeatsDefaults(t *testing.T) {
	f, cmd, err := settled(t,
		[]string{"--api", "flag:1", "--egress-dial", "a@b:1=x,y"},
		[]string{"TREECAST_API=env:1", "TREECAST_DATA_DIR=/env", "TREECAST_JOIN=one@/a two@/b", "OTHER=1", "TREECAST_UNKNOWN=1"},
		"api: file:1\ndata-dir: /file\ncapacity: 7\nbroker: true\njoin: three@/c\npublishers: [aa, bb]\n")
	if err != nil {
		t.Fatal(err)
	}
	if f.api != "flag:1" || f.dataDir != "/env" || f.capacity != 7 || !f.broker || f.parents != 2 {
		t.Errorf("%+v", f)
	}
	if !slices.Equal(f.join, []string{"one@/a", "two@/b"}) || !slices.Equal(f.publishers, []string{"aa", "bb"}) ||
		!slices.Equal(f.egressDial, []string{"a@b:1=x,y"}) {
		t.Errorf("lists %q %q %q", f.join, f.publishers, f.egressDial)
	}
	if !cmd.Flags().Changed("capacity") || cmd.Flags().Changed("parents") {
		t.Error("a setting from a file counts as given, a default does not")
	}
}

func TestSettingsNameWhereAFaultComesFrom(t *testing.T) {
	_, _, err := settled(t, nil, []string{"TREECAST_CAPACITY=many"}, "parents: [1, 2]\ncolour: red\nlisten: {a: b}\n")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"environment TREECAST_CAPACITY", "parents: a list", `unknown setting "colour"`, "listen: a mapping"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	if _, _, err := settled(t, nil, nil, "a: [\n"); err == nil {
		t.Error("broken YAML accepted")
	}
}

func TestBindAddresses(t *testing.T) {
	got := bindAddresses(strings.Fields("node --ingress-tcp 1.2.3.4:5 --ingress-record --egress-listen=:7 --egress-listen --broker --api :8"))
	want := strings.Fields("node --ingress-tcp=1.2.3.4:5 --ingress-record --egress-listen=:7 --egress-listen --broker --api :8")
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	f, _, err := settled(t, []string{"--ingress-record", "--broker"}, nil, "")
	if err != nil || f.ingressRecord != ":8728" || f.ingressTCP != "" {
		t.Errorf("record door %q, tcp door %q, error %v", f.ingressRecord, f.ingressTCP, err)
	}
}
