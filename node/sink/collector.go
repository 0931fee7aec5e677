package sink

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the sink. The only label takes the reasons of a fixed set.
var (
	descAcked        = desc("acked_total", "Messages that the stream took.")
	descDuplicates   = desc("duplicates_total", "Messages that the stream had within its duplicate window.")
	descKnown        = desc("known_total", "Objects found in the stream before they were sent.")
	descRetried      = desc("retried_total", "Messages sent again.")
	descLarge        = desc("large_total", "Payloads put into the object store.")
	descFailures     = desc("failures_total", "Times that the sink had to wait and try again.", "reason")
	descConnected    = desc("connected", "Whether the sink is connected to a server.")
	descPending      = desc("pending", "Objects taken and not stored yet.")
	descPendingBytes = desc("pending_bytes", "Payload bytes of them.")
	descLag          = desc("lag_chunks", "Chunks at hand whose objects are not stored.")
	descStalled      = desc("stalled_seconds", "Time since something was last stored, while objects are pending.")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("treecast", "sink", name), help, labels, nil)
}

// Describe is prometheus.Collector's.
func (s *Sink) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descAcked, descDuplicates, descKnown, descRetried, descLarge, descFailures, descConnected, descPending, descPendingBytes, descLag, descStalled,
	} {
		ch <- d
	}
}

// Collect is prometheus.Collector's.
func (s *Sink) Collect(ch chan<- prometheus.Metric) {
	c := s.Counters()
	counter := func(d *prometheus.Desc, n uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	counter(descAcked, c.Acked)
	counter(descDuplicates, c.Duplicates)
	counter(descKnown, c.Known)
	counter(descRetried, c.Retried)
	counter(descLarge, c.Large)
	for reason, n := range c.Failures {
		counter(descFailures, n, reason)
	}
	connected := 0.0
	if c.Connected {
		connected = 1
	}
	gauge(descConnected, connected)
	gauge(descPending, float64(c.Pending))
	gauge(descPendingBytes, float64(c.PendingBytes))
	gauge(descLag, float64(c.Lag))
	gauge(descStalled, c.Stalled.Seconds())
}
