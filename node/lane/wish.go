package lane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"treecast/node/follow"
	"treecast/wire/beef"
)

const (
	// followPrefix sets the names of lanes apart from others that follow.
	followPrefix = "lane/"
	// takeOver is how long a name's older connection has to end.
	takeOver = 5 * time.Second
)

// wish is what a consumer gets, and as what.
type wish struct {
	election beef.Election
	format   Format
	resume   string           // the name to go on under; empty: from now on
	ack      bool             // it acknowledges
	follower *follow.Follower // of that name, while there is a session; nil: it has a queue
}

// close lets the name go.
func (w *wish) close() {
	if w.follower != nil {
		w.follower.Close() // it has no error to tell
		w.follower = nil
	}
}

// judge returns what a consumer's request asks for. The error is for the consumer.
func (e *Egress) judge(r *Request) (w wish, err error) {
	w.resume, w.ack = r.Resume, r.Ack
	switch {
	case w.resume == "" && w.ack:
		return w, errors.New("lane: election: ack without resume")
	case w.resume == "":
	case e.cfg.Follow == nil:
		return w, fmt.Errorf("lane: election: resume %q: this node keeps no retention", w.resume)
	case !isName(w.resume):
		return w, fmt.Errorf("lane: election: resume %q, want 1..%d letters, digits, dots, dashes and underscores", w.resume, maxLaneName)
	case e.dials(w.resume):
		return w, fmt.Errorf("lane: election: resume %q: the node dials that consumer", w.resume)
	}
	w.election, w.format, err = r.Election()
	return w, err
}

func isName(s string) bool {
	return s != "" && len(s) <= maxLaneName && strings.Trim(s, nameLetters) == ""
}

// dials says whether a name is a dialled lane's.
func (e *Egress) dials(name string) bool {
	for i := range e.cfg.Dial {
		if e.cfg.Dial[i].Name == name {
			return true
		}
	}
	return false
}

// follow opens the follower of a wish with a name. The newest connection of a name
// has it: an older one, which is most often one that has died unseen, is cut. The
// error is for the consumer.
func (e *Egress) follow(w *wish) error {
	if w.resume == "" || e.cfg.Follow == nil {
		return nil
	}
	e.mu.Lock()
	older := e.names[w.resume]
	var ended <-chan struct{}
	if older != nil {
		ended = older.ended
	}
	e.mu.Unlock()
	if older != nil {
		select {
		case <-ended:
		case <-time.After(lastAcks): // what a consumer that comes back said last is under way
			older.end(errReplaced)
		}
	}
	ctx, cancel := context.WithTimeout(e.closing, takeOver)
	defer cancel()
	f, err := e.cfg.Follow.Open(ctx, followPrefix+w.resume, follow.Options{Election: w.election})
	if err != nil {
		return fmt.Errorf("lane: resume %q: %w", w.resume, err)
	}
	w.follower = f
	return nil
}

// mark has a dialled lane's position exist from the start, however long its consumer
// stays away.
func (e *Egress) mark(c *consumer) error {
	w := c.wish
	if err := e.follow(&w); err != nil {
		return err
	}
	w.close()
	return nil
}

// enterName notes who goes on under a name.
func (e *Egress) enterName(c *consumer) {
	if c.follower == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c.ended = make(chan struct{})
	e.names[c.resume] = c
}

// leaveName lets the name of a session that has ended go.
func (e *Egress) leaveName(c *consumer) {
	if c.follower == nil {
		return
	}
	c.wish.close()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.names[c.resume] == c {
		delete(e.names, c.resume)
	}
	close(c.ended)
}

// end ends a consumer's session, if there is one.
func (c *consumer) end(cause error) {
	c.mu.Lock()
	cut := c.cut
	c.mu.Unlock()
	if cut != nil {
		cut(cause)
	}
}

// CloseResumed ends the lanes of consumers that resume, and takes no more of them.
// When it returns, their positions are stored: it is called before the node is
// closed, and Close after. It may be called twice.
func (e *Egress) CloseResumed() {
	if e.cfg.Follow == nil {
		return
	}
	e.cfg.Follow.Close()
	e.mu.Lock()
	open := maps.Clone(e.names)
	ended := make([]<-chan struct{}, 0, len(open))
	for _, c := range open {
		ended = append(ended, c.ended)
	}
	e.mu.Unlock()
	for _, c := range open {
		c.end(errClose)
	}
	for _, done := range ended {
		<-done
	}
}
