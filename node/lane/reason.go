package lane

// Reasons of an Ingress beside those of wire/beef, the keys of IngressCounters.
const (
	// A connection, or an HTTP request, was refused.
	ReasonConns       = "conns"        // IngressLimits.Conns are open
	ReasonSourceConns = "source_conns" // IngressLimits.SourceConns of its source are open
	ReasonToken       = "token"        // a request without the token
	ReasonRequest     = "bad_request"  // a request without a list of topics, or of another content type
	ReasonClosing     = "closing"      // the ingress is being closed
	// A connection was closed by the door, or a request ended.
	ReasonIdle      = "idle"      // no object started within IngressLimits.Idle
	ReasonStalled   = "stalled"   // an object came too slowly
	ReasonBroken    = "broken"    // the connection failed, or its publisher reset it
	ReasonHandshake = "handshake" // no agreement on TLS, or no certificate
	// An object was rejected.
	ReasonDuplicate = "duplicate"   // its pair was submitted before, or is being published
	ReasonGroup     = "wrong_group" // its topic belongs to a group that is not served
	ReasonFragments = "fragments"   // more fragments than can be numbered
	// A connection was left unread for a while, a datagram dropped, a request
	// answered 503.
	ReasonObjects = "rate_objects" // the source's objects
	ReasonBytes   = "rate_bytes"   // the source's bytes
	ReasonNode    = "rate_node"    // the ingress's objects
	ReasonLarge   = "large"        // IngressLimits.LargeObjects are being received
	ReasonBacklog = "backlog"      // IngressLimits.Backlog is not settled
	// An object was lost.
	ReasonReserve = "reserve" // no feed index
	ReasonPublish = "publish" // the publication failed
)
