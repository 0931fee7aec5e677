package lane

import "github.com/prometheus/client_golang/prometheus"

// Metrics of the lanes. Labels take reasons from fixed sets and the names of
// dialled lanes, which are configured; nothing that a remote side chooses.
var (
	ingressOpen      = desc("ingress_connections", "Publishers connected, and requests under way.")
	ingressAccepted  = desc("ingress_accepted_total", "Connections accepted.")
	ingressDatagrams = desc("ingress_datagrams_total", "Datagrams received.")
	ingressRequests  = desc("ingress_requests_total", "HTTP requests received.")
	ingressRefused   = desc("ingress_refused_total", "Connections and requests not served.", "reason")
	ingressClosed    = desc("ingress_closed_total", "Connections and requests given up by the door.", "reason")
	ingressDropped   = desc("ingress_dropped_total", "Datagrams dropped before their object was judged.", "reason")
	ingressObjects   = desc("ingress_objects_total", "Objects handed to the publisher.")
	ingressBytes     = desc("ingress_bytes_total", "Payload bytes handed to the publisher.")
	ingressChunks    = desc("ingress_chunks_total", "Object frames and fragments handed to the publisher.")
	ingressPublished = desc("ingress_published_total", "Objects that came back down.")
	ingressRejected  = desc("ingress_rejected_total", "Objects rejected, their connection kept.", "reason")
	ingressFailed    = desc("ingress_failed_total", "Objects lost in publishing.", "reason")
	ingressThrottled = desc("ingress_throttled_total", "Times that a connection was left unread, or a request answered 503.", "reason")

	egressMessages  = desc("egress_messages_total", "Messages taken from the cohort.")
	egressIgnored   = desc("egress_ignored_total", "Messages that are no part of an object.", "reason")
	egressFragments = desc("egress_fragments_total", "Fragments, and objects given up.", "outcome")
	egressObjects   = desc("egress_objects_total", "Whole objects.")
	egressUnmatched = desc("egress_unmatched_total", "Objects that no consumer elected.")
	egressRepeated  = desc("egress_repeated_total", "Deliveries left out because the consumer had the object.")
	egressRecords   = desc("egress_records_total", "Records written.")
	egressBytes     = desc("egress_bytes_total", "Bytes written.")
	egressLost      = desc("egress_lost_total", "Records thrown away with a lane.")
	egressClosed    = desc("egress_closed_total", "Lanes closed.", "reason")
	egressRefused   = desc("egress_refused_total", "Consumers refused and dials failed.", "reason")
	egressConsumers = desc("egress_consumers", "Consumers connected.")
	egressQueued    = desc("egress_lane_queued_bytes", "Bytes that wait for a dialled consumer.", "lane")
	egressSkipped   = desc("egress_skipped_total", "Feed indices that were not kept any more when a resuming consumer came to them.")
	egressGaps      = desc("egress_gaps_total", "Feed indices that were missing when a resuming consumer came to them.")
	egressForgotten = desc("egress_forgotten_total", "Feed indices that a resuming consumer has given up, for their number.")
	egressLag       = desc("egress_lane_lag", "Feed indices that a dialled consumer is behind.", "lane")
	egressConnected = desc("egress_lane_connected", "Whether a dialled consumer is connected.", "lane")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName("treecast", "", name), help, labels, nil)
}

// Describe is prometheus.Collector's.
func (in *Ingress) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		ingressOpen, ingressAccepted, ingressDatagrams, ingressRequests, ingressRefused, ingressClosed, ingressDropped, ingressObjects, ingressBytes,
		ingressChunks, ingressPublished, ingressRejected, ingressFailed, ingressThrottled,
	} {
		ch <- d
	}
}

// Collect is prometheus.Collector's.
func (in *Ingress) Collect(ch chan<- prometheus.Metric) {
	c := in.Counters()
	gauge(ch, ingressOpen, float64(c.Open))
	counter(ch, ingressAccepted, c.Accepted)
	counter(ch, ingressDatagrams, c.Datagrams)
	counter(ch, ingressRequests, c.Requests)
	counters(ch, ingressRefused, c.Refused)
	counters(ch, ingressClosed, c.Closed)
	counters(ch, ingressDropped, c.Dropped)
	counter(ch, ingressObjects, c.Objects)
	counter(ch, ingressBytes, c.Bytes)
	counter(ch, ingressChunks, c.Chunks)
	counter(ch, ingressPublished, c.Published)
	counters(ch, ingressRejected, c.Rejected)
	counters(ch, ingressFailed, c.Failed)
	counters(ch, ingressThrottled, c.Throttled)
}

// Describe is prometheus.Collector's.
func (e *Egress) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		egressMessages, egressIgnored, egressFragments, egressObjects, egressUnmatched,
		egressRepeated, egressRecords, egressBytes, egressLost, egressClosed, egressRefused,
		egressConsumers, egressQueued, egressConnected, egressSkipped, egressGaps, egressForgotten, egressLag,
	} {
		ch <- d
	}
}

// Collect is prometheus.Collector's.
func (e *Egress) Collect(ch chan<- prometheus.Metric) {
	c := e.Counters()
	counter(ch, egressMessages, c.Messages)
	counters(ch, egressIgnored, c.Ignored)
	counters(ch, egressFragments, c.Fragments)
	counter(ch, egressObjects, c.Objects)
	counter(ch, egressUnmatched, c.Unmatched)
	counter(ch, egressRepeated, c.Repeated)
	counter(ch, egressRecords, c.Records)
	counter(ch, egressBytes, c.Bytes)
	counter(ch, egressLost, c.Lost)
	counters(ch, egressClosed, c.Closed)
	counters(ch, egressRefused, c.Refused)
	counter(ch, egressSkipped, c.Follow.Skipped)
	counter(ch, egressGaps, c.Follow.Gaps)
	counter(ch, egressForgotten, c.Follow.Forgotten)
	connected := 0.0
	for _, one := range c.Consumers {
		up := 0.0
		if one.Connected {
			up = 1
		}
		connected += up
		if one.Dialed {
			gauge(ch, egressQueued, float64(one.QueuedBytes), one.Name)
			gauge(ch, egressConnected, up, one.Name)
			if lag, ok := c.Follow.Lag[followPrefix+one.Name]; ok {
				gauge(ch, egressLag, float64(lag), one.Name)
			}
		}
	}
	gauge(ch, egressConsumers, connected)
}

func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func counter(ch chan<- prometheus.Metric, d *prometheus.Desc, n uint64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func counters(ch chan<- prometheus.Metric, d *prometheus.Desc, byReason map[string]uint64) {
	for reason, n := range byReason {
		counter(ch, d, n, reason)
	}
}
