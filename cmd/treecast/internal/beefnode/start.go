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
	"treecast/node/follow"
	"treecast/node/lane"
	"treecast/wire"
	"treecast/wire/soc"
)

// Running is a node with its doors, from Start until Close. Its methods may be
// called by several goroutines.
type Running struct {
	node       *node.Node
	plane      *plane
	key        *soc.Key // the publisher key; nil until it is needed
	publishers []*publisher
	ingress    *lane.Ingress
	egress     *lane.Egress
	sink       *storing // nil: nothing is stored elsewhere
	api        *api.Server

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
	cfg = cfg.withRoom()
	cfg.Node.Log = cfg.Log
	metrics := prometheus.NewRegistry()
	if cfg.API != "" {
		cfg.Node.Registerer = metrics
	}
	n, err := node.New(cfg.Node)
	if err != nil {
		return nil, err
	}
	r := &Running{node: n}
	if r.plane, err = newPlane(n, &cfg); err != nil {
		return nil, errors.Join(err, n.Close())
	}
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
	if cfg.Sink != nil {
		if err := r.startSink(cfg, cfg.Log); err != nil {
			return err
		}
	}
	if cfg.Ingress() {
		return r.startIngress(cfg)
	}
	return nil
}

// ErrPublisher says that an ingress may not publish: its key is neither the
// configured admin's nor listed.
var ErrPublisher = errors.New("beefnode: the publisher key is neither the admin's nor among the publishers")

// open makes this node the broker of the BEEF cohorts.
func (r *Running) open(cfg *Config) error {
	owner, err := r.owner()
	if err != nil {
		return err
	}
	admin := owner
	if cfg.Admin != nil {
		admin = *cfg.Admin
	}
	if cfg.Ingress() && owner != admin && !slices.Contains(cfg.Publishers, owner) {
		return fmt.Errorf("%w: %v", ErrPublisher, owner)
	}
	for _, group := range cfg.fixedGroups() {
		err := r.plane.enter(group, true, func(group uint32) (*node.Cohort, error) {
			return r.node.Open(beefSpec(group, admin, cfg.Publishers))
		})
		if errors.Is(err, node.ErrServed) {
			return fmt.Errorf("beefnode: the data directory holds a BEEF cohort with another admin or publisher list: %w", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

func (r *Running) join(cfg *Config) error {
	if cfg.Joins() {
		for _, group := range cfg.fixedGroups() {
			if err := r.plane.enter(group, true, r.plane.join); err != nil {
				return err
			}
		}
	}
	for _, j := range cfg.Join {
		if j.Topic == Topic() {
			continue
		}
		opt := node.CohortOptions{Topic: j.Topic, Entries: j.Entries, Admin: cfg.Admin, Publishers: cfg.Publishers}
		if _, err := r.node.Join(opt); err != nil {
			return err
		}
	}
	return nil
}

func (r *Running) startEgress(cfg *Config) (err error) {
	if !cfg.Opens() && !cfg.Joins() {
		return errors.New("beefnode: an egress needs the BEEF cohort")
	}
	r.egress, err = lane.NewEgress(lane.EgressConfig{
		Dial: cfg.EgressDial, Listen: cfg.EgressListen, Follow: r.plane.hub, ShardBits: cfg.ShardBits, MaxObject: cfg.ObjectMax,
		Limits: cfg.EgressLimits, Log: cfg.Log,
	})
	if err != nil {
		return err
	}
	return r.plane.deliver(r.egress)
}

func (r *Running) startIngress(cfg *Config) error {
	cohorts := r.plane.fixed()
	if len(cohorts) == 0 {
		return errors.New("beefnode: an ingress needs the BEEF cohort")
	}
	owner, err := r.owner()
	if err != nil {
		return err
	}
	if cfg.Admin != nil && owner != *cfg.Admin && !slices.Contains(cfg.Publishers, owner) {
		return fmt.Errorf("%w: %v", ErrPublisher, owner)
	}
	ways := make(map[uint32]lane.Publisher, len(cohorts))
	for group, c := range cohorts {
		p := newPublisher(c, r.key)
		if _, err := p.tryOpen(); err != nil && !errors.Is(err, node.ErrNoSpec) {
			return err
		}
		r.publishers = append(r.publishers, p)
		ways[group] = p
	}
	lc := lane.IngressConfig{
		Publishers: ways, ShardBits: cfg.ShardBits, Doors: cfg.Doors, Overlay: r.node.Overlay(), Sender: cfg.Sender,
		MaxObject: cfg.ObjectMax, Limits: cfg.IngressLimits, Log: cfg.Log,
	}
	if cfg.API != "" {
		lc.HTTP = &lane.HTTPDoor{Token: cfg.HTTPToken}
		if cfg.HTTPToken != nil {
			lc.HTTP.DeliverCap = cfg.DeliverCap
		}
	}
	r.ingress, err = lane.NewIngress(lc)
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
	if r.sink != nil {
		if err := metrics.Register(r.sink.Sink); err != nil {
			return fmt.Errorf("beefnode: metrics: %w", err)
		}
	}
	ac := api.Config{Addr: cfg.API, TokenFile: cfg.APITokenFile, Gatherer: metrics, Log: cfg.Log}
	if r.ingress != nil {
		ac.Routes = append(ac.Routes, api.Route{
			Pattern: "POST /submit", Handler: r.ingress.Handler(), OwnToken: cfg.HTTPToken != nil,
		})
	}
	if r.egress != nil {
		ac.Routes = append(ac.Routes, api.Route{Pattern: "GET /deliver", Handler: r.egress.Handler()})
	}
	r.api, err = api.New(r.node, ac)
	return err
}

// Publisher is the owner under which the ingress publishes; false if there is no
// ingress.
func (r *Running) Publisher() (owner wire.Owner, ok bool) {
	if r.ingress == nil {
		return owner, false
	}
	return wire.Owner(r.key.Owner()), true
}

// Node is the node itself.
func (r *Running) Node() *node.Node { return r.node }

// Cohort is the BEEF cohort, of several that of the first group; nil if this node is
// in none.
func (r *Running) Cohort() *node.Cohort {
	if all := r.plane.cohorts(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Cohorts are the BEEF cohorts that this node is in now, in the order of their
// groups.
func (r *Running) Cohorts() []*node.Cohort { return r.plane.cohorts() }

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

// Follow gives out the objects of the BEEF cohorts from stored positions; nil if the
// node retains nothing. Its followers are to be closed before the node is.
func (r *Running) Follow() *follow.Hub { return r.plane.hub }

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
		for _, p := range r.publishers {
			p.close() // first: the ingress waits for what it handed over
		}
		var errs []error
		if r.ingress != nil {
			errs = append(errs, r.ingress.Close())
		}
		if r.egress != nil {
			r.egress.CloseResumed() // their positions are the node's
		}
		if r.sink != nil {
			errs = append(errs, r.sink.close()) // so is its position
		}
		errs = append(errs, out())
		r.plane.close() // what the cohorts have delivered goes to the egress first
		if r.egress != nil {
			errs = append(errs, r.egress.Close())
		}
		if r.api != nil { // after the doors, whose requests it waits for
			errs = append(errs, r.api.Close())
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
