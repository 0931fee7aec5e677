package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A reading is what the process has used and sent until one moment.
type reading struct {
	at      time.Time
	cpu     time.Duration // user and system, of the whole process
	mallocs uint64
	data    uint64 // bytes written to streams of the protocol under test
	other   uint64 // to other streams
	writes  uint64
	device  uint64 // bytes through the loopback device, 0 where it is shared with others
	copies  uint64 // chunks or messages that came in at the hosts but the publisher's
	asked   uint64 // how often chunks were asked for again
	taken   uint64 // deliveries to subscribers
}

func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("bench: getrusage: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

func read(net side, l *ledger) (r reading, err error) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	r.mallocs = mem.Mallocs
	r.copies = net.copies()
	r.asked = net.asked()
	t := net.traffic()
	r.data, r.other, r.writes = t.data.Load(), t.other.Load(), t.writes.Load()
	r.device = deviceBytes()
	if l != nil {
		r.taken = l.taken.Load()
	}
	r.at = time.Now()
	r.cpu, err = cpuTime()
	return r, err
}

// freshPeak forgets the process's peak of resident memory, after giving back
// what is free, so that the next row has its own.
func freshPeak() {
	debug.FreeOSMemory()
	// Where it is not allowed the peaks are those since the start, and equal for
	// all rows that follow the highest.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peakMiB is the peak of resident memory; 0 where the system does not tell.
func peakMiB() float64 { return statusKiB("VmHWM:") / 1024 }

// statusKiB is one of the process's figures of memory; 0 where the system does not
// tell.
func statusKiB(name string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err != nil {
				return 0
			}
			return kib
		}
	}
	return 0
}
