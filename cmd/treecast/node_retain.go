package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"treecast/cmd/treecast/internal/beefnode"
)

// retainFlags say what is kept of the cohorts' chunks.
type retainFlags struct {
	size string
	age  time.Duration
}

func (f *retainFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.size, "retain", "",
		"keep chunks in the data directory, up to SIZE over all cohorts, as 500M or 20GiB, and give them to who lacks them; empty = in memory alone")
	flags.DurationVar(&f.age, "retain-age", 0, "how old a kept chunk may get, as 24h; 0 = any age")
}

// retain reads them.
func (p *nodeParser) retain(cfg *beefnode.Config) {
	if p.retained.size != "" {
		size, err := parseSize(p.retained.size)
		if err != nil {
			p.fault("--retain %q: %v", p.retained.size, err)
		}
		cfg.Node.Retain.Size = size
	}
	switch {
	case p.retained.age < 0:
		p.fault("--retain-age %v: want 0 or more", p.retained.age)
	case p.retained.age > 0 && p.retained.size == "":
		p.fault("--retain-age without --retain")
	}
	cfg.Node.Retain.Age = p.retained.age
}

// minRetain is the smallest store that is of any use: less than what the
// database itself takes.
const minRetain = 1 << 20

// parseSize reads a number of bytes with a unit of 1024: K, M, G or T, alone or
// with B or iB behind it.
func parseSize(s string) (int64, error) {
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s), "B"), "I")
	shift := 0
	if n := len(number); n > 0 {
		if i := strings.IndexByte("KMGT", number[n-1]); i >= 0 {
			number, shift = number[:n-1], 10*(i+1)
		} else if len(number) != len(s) && !strings.HasSuffix(s, "B") {
			return 0, fmt.Errorf("want a number with K, M, G or T")
		}
	}
	v, err := strconv.ParseInt(number, 10, 64)
	if err != nil || v < 0 || v > math.MaxInt64>>shift {
		return 0, fmt.Errorf("want a number with K, M, G or T")
	}
	if v <<= shift; v < minRetain {
		return 0, fmt.Errorf("want at least %d bytes", minRetain)
	}
	return v, nil
}
