package sim_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"treecast/e2e/sim"
)

// TestConfigRefused wants the field and the value named.
func TestConfigRefused(t *testing.T) {
	for _, c := range []struct {
		cfg  sim.Config
		want string
	}{
		{sim.Config{Nodes: -1}, "Nodes: -1"},
		{sim.Config{Nodes: sim.MaxNodes + 1}, "Nodes: 16777217"},
		{sim.Config{Nodes: 1000000, Turnover: 20}, "Nodes: 1000000"},
		{sim.Config{Capacity: 2}, "Capacity: 2"},
		{sim.Config{BrokerCapacity: 1}, "BrokerCapacity: 1"},
		{sim.Config{Budget: 65}, "Budget: 65"},
		{sim.Config{Relays: 1.5}, "Relays: 1.5"},
		{sim.Config{Churn: 1}, "Churn: 1"},
		{sim.Config{Foreign: math.NaN()}, "Foreign: NaN"},
		{sim.Config{Entry: "nowhere"}, `Entry: "nowhere"`},
		{sim.Config{Rules: "none"}, `Rules: "none"`},
		{sim.Config{RTTMedian: time.Hour}, "RTTMedian: 1h0m0s"},
		{sim.Config{Frames: -5}, "Frames: -5"},
		{sim.Config{PartitionFor: -1}, "PartitionFor: -1ns"},
	} {
		if _, err := sim.Run(c.cfg); err == nil || !strings.HasPrefix(err.Error(), "sim: config "+c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}
