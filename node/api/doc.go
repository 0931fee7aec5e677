// Package api is a node's HTTP door for operators: is it alive, is it attached,
// and what does its part of the tree look like. It only reads; what else is to be
// had by HTTP, such as the doors of package lane, is given to it as Routes.
//
//	GET /healthz   200 while the process serves
//	GET /readyz    200 when every cohort has the parents it wants, else 503 and why
//	GET /tree      the node and its cohorts, a Tree in JSON
//	GET /metrics   prometheus text, if the server was given a gatherer
//
// It listens on loopback unless told otherwise; on any other address it wants a
// bearer token, as /tree names peers and addresses. It never shows a key.
package api
