package node

import "sync/atomic"

// counter is one reason why the driver dropped or refused something (PROTOCOL
// §10), or a thing that it did. The core has its own, see tree.Counter.
type counter uint8

const (
	countBadFrame counter = iota
	countBadLength
	countBadFirstFrame
	countHandshakeTimeout
	countHandshakeBroken
	countStreamsPerPeer
	countCohortLimit
	countOpenedPerPeer
	countUnknownTopic
	countOpenRefused
	countOpenInvalid
	countOpenConflict
	countProofInvalid
	countBlockedPeer
	countForgersBlocked
	countUnknownMember
	countControlOverflow
	countWriteFailed
	countPeerDead
	countConnectionDead
	countDials
	countDialUnreachable
	countDialSilent
	countDialBroken
	countHintRefused
	countHintRecentlyFailed
	countSubscriptionSlow
	countReclaimed
	countReportsDropped
	countGaps
	countBeforeRestart
	countNotRetained
	countUntracked
	countRecoverAsked
	countRecoverFailed
	countRecoverAnswered
	countRecoverServed
	countRecoverRefused
	countRecoverBusy
	countLeft
	countWithheld
	countChecked
	countOwnerKeys
	countOwnerKeysDropped
	numCounters
)

var counterNames = [numCounters]string{
	"bad_frame", "bad_length", "bad_first_frame", "handshake_timeout", "handshake_broken",
	"streams_per_peer", "cohort_limit", "opened_per_peer", "unknown_topic", "open_refused",
	"open_invalid", "open_conflict", "proof_invalid", "blocked_peer", "forgers_blocked",
	"unknown_member", "control_overflow", "write_failed", "peer_dead", "connection_dead", "dials",
	"dial_unreachable", "dial_silent", "dial_broken", "hint_refused", "hint_recently_failed",
	"subscription_slow", "reclaimed", "reports_dropped",
	"gaps", "before_restart", "not_retained", "untracked",
	"recover_asked", "recover_failed", "recover_answered", "recover_chunks_served", "recover_refused", "recover_busy", "left", "withheld", "checked",
	"owner_keys", "owner_keys_dropped",
}

// counters are all counts of the driver.
type counters [numCounters]atomic.Uint64

func (c *counters) add(k counter) { c[k].Add(1) }

func (c *counters) addN(k counter, n int) { c[k].Add(uint64(n)) }

func (c *counters) snapshot() map[string]uint64 {
	m := make(map[string]uint64, numCounters)
	for k := range c {
		m[counterNames[k]] = c[k].Load()
	}
	return m
}
