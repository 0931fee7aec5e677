package beefnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"treecast/node"
	"treecast/node/api"
	"treecast/node/lane"
	"treecast/wire"
	"treecast/wire/soc"
)

// Running is a node with its doors, from Start until Close. Its methods may be
// called by several goroutines.
type Running struct {
	log       *slog.Logger
	node      *node.Node
	beef      *node.Cohort // nil: the BEEF cohort is neither opened nor joined
	key       *soc.Key     // the publisher key; nil until it is needed
	publisher *node.Publisher
	ingress   *lane.Ingress
	egress    *lane.Egress
	api       *api.Server

	stop context.CancelFunc // ends feeding
	fed  sync.WaitGroup
	once sync.Once
	err  error
}

// Start starts all of cfg against the way that objects take: whoever
// brings one to a door finds the way behind it open. On error nothing
// is left running; the error names what could not be started, such as the
// address that is in use.
func Start(cfg Config) (*Running, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Node.Log = cfg.Log
	metrics := prometheus.NewRegistry()
	if cfg.API != "" {
		cfg.Node.Registerer = metrics
	}
	n, err := node.New(cfg.Node)
	if err != nil {
		return nil, err
	}
	r := &Running{log: cfg.Log, node: n, stop: func() {}}
	err = r.start(&cfg)
	if err == nil && cfg.API != "" {
		err = r.startAPI(&cfg, metrics)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Running) start(cfg *Config) error {
	if cfg.Opens() {
		if err := r.open(cfg); err != nil {
			return err
		}
	}
	if err := r.join(cfg); err != nil {
		return err
	}
	if cfg.egress() {
		if err := r.startEgress(cfg); err != nil {
			return err
		}
	}
	if len(cfg.Doors) > 0 {
		return r.startIngress(cfg)
	}
	return nil
}

// ErrPublisher says that the ingress of a broker may not publish: its key is
// neither the configured admin's nor listed.
var ErrPublisher = errors.New("beefnode: the publisher key is neither the admin's nor among the publishers")

// open makes this node the broker of the BEEF cohort.
func (r *Running) open(cfg *Config) error {
	owner, err := r.owner()
	if err != nil {
		return err
	}
	admin := owner
	if cfg.Admin != nil {
		admin = *cfg.Admin
	}
	if len(cfg.Doors) > 0 && owner != admin && !slices.Contains(cfg.Publishers, owner) {
		return fmt.Errorf("%w: %v", ErrPublisher, owner)
	}
	spec := beefSpec(admin, cfg.Publishers)
	r.beef, err = r.node.Open(spec)
	if errors.Is(err, node.ErrServed) {
		return fmt.Errorf("beefnode: the data directory holds the BEEF cohort with another admin or publisher list: %w", err)
	}
	return err
}

// owner is the publisher key's address; the key is asked for once, as a node
// without a data directory makes another each time.
func (r *Running) owner() (wire.Owner, error) {
	if r.key == nil {
		key, err := r.node.PublisherKey()
		if err != nil {
			return wire.Owner{}, err
		}
		r.key = key
	}
	return wire.Owner(r.key.Owner()), nil
}

// beefSpec is the BEEF cohort's: FEED_TOPIC, published by its admin alone or by
// the listed owners too (PROTOCOL §7).
func beefSpec(admin wire.Owner, publishers []wire.Owner) wire.Spec {
	spec := wire.Spec{
		Topic: Topic(), Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: admin[:],
	}
	if len(publishers) > 0 {
		spec.Regime = wire.RegimeExplicitList
	}
	for i := range publishers {
		spec.Publishers = append(spec.Publishers, publishers[i][:])
	}
	return spec
}

func (r *Running) join(cfg *Config) error {
	for _, j := range cfg.Join {
		opt := node.CohortOptions{Topic: j.Topic, Entries: j.Entries, Admin: cfg.Admin, Publishers: cfg.Publishers}
		c, err := r.node.Join(opt)
		if err != nil {
			return err
		}
		if j.Topic == Topic() {
			r.beef = c
		}
	}
	return nil
}

func (r *Running) startEgress(cfg *Config) error {
	if r.beef == nil {
		return fmt.Errorf("beefnode: an egress needs the BEEF cohort")
	}
	egress, err := lane.NewEgress(lane.EgressConfig{
		Dial: cfg.EgressDial, Listen: cfg.EgressListen, MaxObject: cfg.ObjectMax, Log: cfg.Log,
	})
	if err != nil {
		return err
	}
	r.egress = egress
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	sub, err := r.beef.Subscribe(node.SubscribeOptions{})
	if err != nil {
		return err
	}
	r.fed.Go(func() { r.feed(ctx, sub) }) // ends with ctx or the cohort
	return nil
}

// feed carries what the cohort delivers to the egress, which never blocks; so
// falling behind takes a machine that is overloaded, and is said.
func (r *Running) feed(ctx context.Context, sub *node.Subscription) {
	for {
		m, err := sub.Next(ctx)
		switch {
		case err == nil:
			r.egress.Handle(lane.Message{
				Payload: m.Payload, Owner: m.Owner, Index: m.Index, HasIndex: m.HasIndex, Release: m.Release,
			})
			continue
		case !errors.Is(err, node.ErrSlow):
			sub.Close()
			return
		}
		r.log.Error("egress fell behind the cohort: objects are lost")
		sub.Close()
		if sub, err = r.beef.Subscribe(node.SubscribeOptions{}); err != nil {
			return
		}
	}
}

func (r *Running) startIngress(cfg *Config) error {
	if r.beef == nil {
		return fmt.Errorf("beefnode: an ingress needs the BEEF cohort")
	}
	if _, err := r.owner(); err != nil {
		return err
	}
	publisher, err := r.beef.Publisher(r.key)
	if err != nil {
		return err
	}
	r.publisher = publisher
	r.ingress, err = lane.NewIngress(lane.IngressConfig{
		Publisher: r.publisher, Doors: cfg.Doors, Overlay: r.node.Overlay(), Sender: cfg.Sender,
		MaxObject: cfg.ObjectMax, Limits: cfg.IngressLimits, Log: cfg.Log,
	})
	return err
}

// startAPI serves the API last, so that nobody reads a node half started.
func (r *Running) startAPI(cfg *Config, metrics *prometheus.Registry) (err error) {
	if r.ingress != nil {
		if err := metrics.Register(r.ingress); err != nil {
			return fmt.Errorf("beefnode: metrics: %w", err)
		}
	}
	if r.egress != nil {
		if err := metrics.Register(r.egress); err != nil {
			return fmt.Errorf("beefnode: metrics: %w", err)
		}
	}
	r.api, err = api.New(r.node, api.Config{
		Addr: cfg.API, TokenFile: cfg.APITokenFile, Gatherer: metrics, Log: cfg.Log,
	})
	return err
}

// Publisher is the owner under which the ingress publishes; false if there is no
// ingress.
func (r *Running) Publisher() (owner wire.Owner, ok bool) {
	if r.publisher == nil {
		return owner, false
	}
	return r.publisher.Owner(), true
}

// Node is the node itself.
func (r *Running) Node() *node.Node { return r.node }

// Cohort is the BEEF cohort; nil if this node has no part in it.
func (r *Running) Cohort() *node.Cohort { return r.beef }

// Doors are the addresses of the ingress, in the order of Config.Doors.
func (r *Running) Doors() []net.Addr {
	if r.ingress == nil {
		return nil
	}
	return r.ingress.Addrs()
}

// Lane is the address of the listening egress lane; nil if there is none.
func (r *Running) Lane() net.Addr {
	if r.egress == nil {
		return nil
	}
	return r.egress.Addr()
}

// Ingress and Egress are the doors, for their counters; nil where there is none.
func (r *Running) Ingress() *lane.Ingress { return r.ingress }

// Egress is the way out; nil where there is none.
func (r *Running) Egress() *lane.Egress { return r.egress }

// Leave is Close without a gap for anybody: once the doors are closed the node
// leaves its cohorts as node.Leave does, and what still reaches it meanwhile is
// delivered. If ctx ends first, what is left is closed at once. Only the first
// of Leave and Close counts.
func (r *Running) Leave(ctx context.Context) error {
	return r.end(func() error { return r.node.Leave(ctx) })
}

// Close stops everything, doors first. It may be called twice.
func (r *Running) Close() error {
	return r.end(r.node.Close)
}

// end stops everything, the node as out says.
func (r *Running) end(out func() error) error {
	r.once.Do(func() {
		if r.publisher != nil {
			r.publisher.Close() // first: the ingress waits for what it handed over
		}
		var errs []error
		if r.api != nil {
			errs = append(errs, r.api.Close())
		}
		if r.ingress != nil {
			errs = append(errs, r.ingress.Close())
		}
		errs = append(errs, out())
		r.stop()
		r.fed.Wait() // what the cohort has delivered goes to the egress first
		if r.egress != nil {
			errs = append(errs, r.egress.Close())
		}
		r.err = errors.Join(errs...)
	})
	return r.err
}

// API is the address of the HTTP API; empty if there is none.
func (r *Running) API() string {
	if r.api == nil {
		return ""
	}
	return r.api.Addr()
}
