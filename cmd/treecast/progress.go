package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// progressEvery is how often a progress line is drawn.
const progressEvery = 200 * time.Millisecond

// progress draws one line that it draws over again: a bar and a text.
type progress struct {
	w    io.Writer // nil draws nothing
	last time.Time
	wide int // of what stands on the line
}

// newProgress draws on w if it is a terminal, or if forced.
func newProgress(w io.Writer, force bool) *progress {
	if !force && !isTerminal(w) {
		return &progress{}
	}
	return &progress{w: w}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

const barWidth = 30

// draw shows done of total, at most every progressEvery and always at the end.
func (p *progress) draw(done, total int, text string) {
	if p.w == nil || total <= 0 {
		return
	}
	if now := time.Now(); done < total && now.Sub(p.last) < progressEvery {
		return
	} else {
		p.last = now
	}
	full := min(barWidth, barWidth*done/total)
	line := fmt.Sprintf("[%s%s] %d/%d %s", strings.Repeat("#", full), strings.Repeat("-", barWidth-full), done, total, text)
	fmt.Fprintf(p.w, "\r%-*s", p.wide, line)
	p.wide = len(line)
}

// end leaves the line.
func (p *progress) end() {
	if p.w != nil && p.wide > 0 {
		fmt.Fprintln(p.w)
		p.wide = 0
	}
}

// byteText is a number of bytes for people.
func byteText(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 10<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
