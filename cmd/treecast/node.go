package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"treecast/cmd/treecast/internal/beefnode"
)

func newNodeCommand(a *app) *cobra.Command {
	var f nodeFlags
	cmd := &cobra.Command{
		Use:   "node",
		Short: "run a node",
		Long: `Run a node until it is interrupted: a broker, a relay, or with --capacity 0 a leaf.
A broker with an ingress opens the BEEF cohort and signs with the publisher key
of its data directory, which is made at first start. An ingress at another node
publishes through its parents; its publisher must be among the broker's
--publishers. With --api there are POST /submit beside an ingress and GET /deliver
for consumers. It prints one line when it is up. SIGINT or SIGTERM makes it leave:
its children find other parents first, which takes some seconds. A second one ends
it at once.`,
		Example: `  treecast node --broker --capacity 3 --data-dir b --listen /ip4/127.0.0.1/tcp/9001 --ingress-tcp 127.0.0.1:8725
  treecast node --join beef@/ip4/127.0.0.1/tcp/9001/p2p/PEER --data-dir r1
  treecast node --join beef@/ip4/127.0.0.1/tcp/9001/p2p/PEER --data-dir l1 --capacity 0 \
      --egress-dial shop@127.0.0.1:9100=tm_ship,tm_slap
  treecast node --join beef@/ip4/127.0.0.1/tcp/9001/p2p/PEER --data-dir i1 --ingress-tcp --ingress-udp \
      --api 127.0.0.1:8730 --ingress-token-file token --deliver-cap 5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.parse(cmd.Flags().Changed("capacity"))
			if err != nil {
				return err
			}
			cfg.Log = a.log
			return a.runNode(cmd.Context(), cfg)
		},
	}
	f.register(cmd)
	return cmd
}

// startedNode is the line that `treecast node` prints when it is up.
type startedNode struct {
	identity
	API        string   `json:"api,omitempty"`
	Ingress    []string `json:"ingress,omitempty"`     // TCP doors
	IngressUDP string   `json:"ingress_udp,omitempty"` // UDP door
	Submit     string   `json:"submit,omitempty"`      // URL of the HTTP door
	Deliver    string   `json:"deliver,omitempty"`     // URL of the HTTP lanes
	Egress     string   `json:"egress,omitempty"`      // where consumers connect
	Publisher  string   `json:"publisher,omitempty"`   // whose chunks the ingress signs
	Sink       string   `json:"sink,omitempty"`        // where objects are stored, without its secrets
}

func (a *app) runNode(ctx context.Context, cfg beefnode.Config) error {
	running, err := beefnode.Start(cfg)
	if errors.Is(err, beefnode.ErrPublisher) {
		return usagef("node: --admin, --publishers: %v", err)
	}
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	if err := a.printStarted(describe(running)); err != nil {
		return errors.Join(err, running.Close())
	}
	<-ctx.Done()
	return a.leave(running)
}

// leaveLimit bounds a graceful end: 5 s for children to move, 5 s for what is
// queued, and some for the doors.
const leaveLimit = 12 * time.Second

// leave ends a node so that nobody below it misses anything. A second signal ends
// the process at once, which main sees to.
func (a *app) leave(running *beefnode.Running) error {
	a.log.Info("leaving")
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	switch err := running.Leave(ctx); {
	case errors.Is(err, context.DeadlineExceeded):
		a.log.Warn("left before all children had moved", "err", err)
	case err != nil:
		return fmt.Errorf("node: leave: %w", err)
	}
	return nil
}

func describe(running *beefnode.Running) startedNode {
	n := running.Node()
	s := startedNode{identity: identity{
		PeerID: n.ID().String(), Overlay: n.Overlay().String(), EthAddress: fmt.Sprintf("%x", n.EthAddress()),
	}}
	for _, addr := range n.Addrs() {
		s.Addrs = append(s.Addrs, addr.String())
	}
	for _, door := range running.Doors() {
		if door.Network() == "udp" {
			s.IngressUDP = door.String()
			continue
		}
		s.Ingress = append(s.Ingress, door.String())
	}
	if lane := running.Lane(); lane != nil {
		s.Egress = lane.String()
	}
	if owner, ok := running.Publisher(); ok {
		s.Publisher = owner.String()
	}
	if k := running.Sink(); k != nil {
		s.Sink = k.Target().String()
	}
	if s.API = running.API(); s.API != "" && running.Ingress() != nil {
		s.Submit = "http://" + s.API + "/submit"
	}
	if s.API != "" && running.Egress() != nil {
		s.Deliver = "http://" + s.API + "/deliver"
	}
	return s
}

func (a *app) printStarted(s startedNode) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(s)
	}
	line := fmt.Sprintf("node %s overlay %s at %s", s.PeerID, s.Overlay, strings.Join(s.Addrs, " "))
	for _, part := range []struct{ name, value string }{
		{"api", s.API},
		{"ingress", strings.Join(s.Ingress, " ")},
		{"ingress udp", s.IngressUDP},
		{"submit", s.Submit},
		{"deliver", s.Deliver},
		{"egress", s.Egress},
		{"publisher", s.Publisher},
		{"sink", s.Sink},
	} {
		if part.value != "" {
			line += ", " + part.name + " " + part.value
		}
	}
	_, err := fmt.Fprintln(a.stdout, line)
	return err
}
