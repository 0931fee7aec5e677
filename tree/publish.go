package tree

import (
	"slices"
	"time"
)

// publishTries is how often a publication is sent before it fails.
const publishTries = 3

// publishing are the own publications that wait for their receipt, in order of
// their next sending.
type publishing struct {
	waiting  []publication
	checking int // with the driver, for their verdict
}

// A publication is one chunk of the application on its way to the broker.
type publication struct {
	request RequestID
	chunk   ChunkID
	print   uint64
	tries   int
	next    time.Time
}

func (p *publishing) deadline() time.Time {
	if len(p.waiting) == 0 {
		return time.Time{}
	}
	return p.waiting[0].next
}

// publish takes a chunk of the application (PROTOCOL §4 Publications). It is
// judged like anybody's: regime, binding, signature.
func (c *Cohort) publish(now time.Time, ev *Publish, out []Action) []Action {
	k := check{chunk: ev.Chunk, request: ev.Request, local: true, up: true, peer: c.cfg.Self, size: len(ev.Soc.Payload)}
	if c.pub.checking+len(c.pub.waiting) >= c.cfg.Publishing {
		return c.reject(&k, ReceiptBusy, out)
	}
	if !c.cfg.Broker && (c.spec == nil || len(c.parents) == 0) {
		return c.reject(&k, ReceiptNoBroker, out)
	}
	switch reason := c.examine(now, ev.Soc, &k); reason {
	case CountDelivered:
		c.pub.checking++
		c.data.push(&k)
		return append(out, Action{Kind: ActVerify, Chunk: k.chunk, ID: k.id})
	case CountDuplicate:
		return c.reject(&k, ReceiptDuplicate, out)
	case CountNotAdmitted:
		c.counters[reason]++
		return c.reject(&k, ReceiptInvalid, out)
	default:
		c.counters[reason]++
		return c.reject(&k, ReceiptNonCanonical, out)
	}
}

// sendUp sends a verified publication towards the broker and waits for its echo. It
// enters the own duplicate state only when that comes down.
func (c *Cohort) sendUp(now time.Time, k *check, out []Action) []Action {
	p := publication{request: k.request, chunk: k.chunk, print: k.print}
	out = c.sendOnce(now, &p, out)
	c.pub.waiting = append(c.pub.waiting, p)
	return out
}

// sendOnce sends a publication up, to all parents there are now.
func (c *Cohort) sendOnce(now time.Time, p *publication, out []Action) []Action {
	p.tries++
	p.next = now.Add(c.cfg.Timing.ReceiptWait)
	return c.toParents(p.chunk, out)
}

// resend sends again what got no receipt in time, and gives up what was sent
// often enough.
func (c *Cohort) resend(now time.Time, out []Action) []Action {
	w := &c.pub.waiting
	for len(*w) > 0 && !now.Before((*w)[0].next) {
		p := (*w)[0]
		*w = slices.Delete(*w, 0, 1)
		if p.tries >= publishTries {
			out = append(out, Action{Kind: ActReceipt, Request: p.request, Receipt: ReceiptTimeout})
			out = c.release(p.chunk, out)
			continue
		}
		out = c.sendOnce(now, &p, out)
		*w = append(*w, p)
	}
	return out
}

// receipt ends the request behind a chunk that the broker sent, or that came
// back down from it.
func (c *Cohort) receipt(k *check, out []Action) []Action {
	if k.local {
		return append(out, Action{Kind: ActReceipt, Request: k.request, Receipt: ReceiptDone})
	}
	for i := 0; i < len(c.pub.waiting); { // all of them: the broker answers a chunk once, however often it is published
		p := c.pub.waiting[i]
		if p.print != k.print {
			i++
			continue
		}
		c.pub.waiting = slices.Delete(c.pub.waiting, i, i+1)
		out = append(out, Action{Kind: ActReceipt, Request: p.request, Receipt: ReceiptDone})
		out = c.release(p.chunk, out)
	}
	return out
}
