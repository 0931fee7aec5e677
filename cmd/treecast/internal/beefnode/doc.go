// Package beefnode puts a node of the tree and its BEEF doors together: the
// cohort of the BEEF plane, opened or joined, an ingress that publishes into it
// and an egress that delivers from it (PROTOCOL §7). The node command and the
// demo both run what this package starts.
//
// It decides no rule of the protocol: packages node and lane do.
package beefnode
