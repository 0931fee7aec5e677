package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"treecast/tree"
)

// metrics shows a node's figures to prometheus. Its labels are the names of
// counters: no peer can make a new one.
type metrics struct {
	n       *Node
	driver  *prometheus.Desc
	core    *prometheus.Desc
	bytes   *prometheus.Desc
	cohorts *prometheus.Desc
	streams *prometheus.Desc
	buffers *prometheus.Desc
	kept    *prometheus.Desc
}

func newMetrics(n *Node) *metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("treecast_"+name, help, labels, nil)
	}
	return &metrics{
		n:       n,
		driver:  desc("node_events_total", "What the node dropped, refused or noticed, by reason.", "reason"),
		core:    desc("cohort_events_total", "What the cohorts' cores dropped, refused or did, by reason.", "reason"),
		bytes:   desc("stream_bytes_total", "Bytes of protocol streams.", "direction"),
		cohorts: desc("cohorts", "Cohorts of this node."),
		streams: desc("streams", "Open protocol streams."),
		buffers: desc("frame_buffers", "Frame buffers in use."),
		kept:    desc("retained_bytes", "Bytes of chunks in the store."),
	}
}

// Describe is part of prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.driver, m.core, m.bytes, m.cohorts, m.streams, m.buffers, m.kept} {
		ch <- d
	}
}

// Collect is part of prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, t prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, t, v, labels...)
	}
	st := m.n.Stats()
	for name, v := range st.Counters {
		send(m.driver, prometheus.CounterValue, float64(v), name)
	}
	for k, v := range m.n.total() {
		send(m.core, prometheus.CounterValue, float64(v), tree.Counter(k).String())
	}
	send(m.bytes, prometheus.CounterValue, float64(st.BytesIn), "in")
	send(m.bytes, prometheus.CounterValue, float64(st.BytesOut), "out")
	send(m.cohorts, prometheus.GaugeValue, float64(st.Cohorts))
	send(m.streams, prometheus.GaugeValue, float64(st.Streams))
	send(m.buffers, prometheus.GaugeValue, float64(st.Buffers))
	send(m.kept, prometheus.GaugeValue, float64(st.Retained))
}
