package probe_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"treecast/probe"
)

// An error names the field and the value.
func TestConfigErrors(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	for want, cfg := range map[string]probe.Config{
		"config Rand: nil":                {},
		"config Budget: -1 is negative":   {Rand: chance, Budget: -1},
		"config Budget: 65, at most 64":   {Rand: chance, Budget: 65},
		"config PerStream: -2 is neg":     {Rand: chance, PerStream: -2},
		"config UpRate: -3 is negative":   {Rand: chance, UpRate: -3},
		"config Origins: -4 is negative":  {Rand: chance, Origins: -4},
		"config Wait: -1s is negative":    {Rand: chance, Wait: -time.Second},
		"config WaitMax: -1s is negative": {Rand: chance, WaitMax: -time.Second},
		"config WaitMax: 5s, at most 4s":  {Rand: chance, WaitMax: 5 * time.Second},
		"config PlainWait: -1ms is neg":   {Rand: chance, PlainWait: -time.Millisecond},
		"config Grace: -1ns is negative":  {Rand: chance, Grace: -1},
	} {
		if _, err := probe.New(cfg); err == nil || !strings.Contains(err.Error(), "probe: "+want) {
			t.Errorf("%q: error %v", want, err)
		}
	}
}

// The budget doubles from 4 to 64 with every empty round, the wait from 1 s to 4 s.
func TestRounds(t *testing.T) {
	for empty, want := range []struct {
		sent string
		wait string
	}{
		{"1 probe#1*4@1", "1s 7:"},
		{"1 probe#1*8@1", "2s 7:"},
		{"1 probe#1*16@1", "4s 7:"},
		{"1 probe#1*32@1", "4s 7:"},
		{"1 probe#1*64@1", "4s 7:"},
		{"1 probe#1*64@1", "4s 7:"},
	} {
		b := newBench(t, probe.Config{})
		b.down = []probe.Link{child(1, "A")}
		b.want(b.begin(probe.Origin{Token: 7, Asker: childless, Empty: empty}), want.sent)
		b.want(b.tick(), want.wait)
		b.want(b.tick(), "never")
	}
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A")}
	b.want(b.begin(probe.Origin{Token: 7, Asker: childless, Empty: 1 << 40}), "1 probe#1*64@1")
}
