package explain

import (
	"fmt"
	"io"
	"strings"
)

// WriteText prints the report for a reader: one line a field with its offset,
// and the fault last.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for i, u := range r.Units {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s, %d bytes at byte %d\n", u.Kind, u.Length, u.Offset)
		for _, f := range u.Fields {
			at := fmt.Sprint(f.Offset)
			if f.Length == 0 {
				at = "→" // follows from the bytes
			}
			fmt.Fprintf(&b, "%8s  %s%-*s  %s\n", at, strings.Repeat("  ", f.Depth), 18-2*f.Depth, f.Name, f.Value)
		}
		for _, n := range u.Notes {
			fmt.Fprintf(&b, "          note: %s\n", n)
		}
	}
	if r.Fault != nil {
		fmt.Fprintf(&b, "fault at byte %d: %s\n", r.Fault.Offset, r.Fault.Reason)
	} else {
		fmt.Fprintf(&b, "valid: %d bytes\n", r.Bytes)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
