package wire_test

import (
	"errors"
	"testing"

	"treecast/wire"
)

// wantSyntax checks that err blames the sender and points into its message of
// size bytes.
func wantSyntax(t *testing.T, err error, size int) {
	t.Helper()
	var syntax *wire.SyntaxError
	if !errors.Is(err, wire.ErrMalformed) || !errors.As(err, &syntax) {
		t.Errorf("error %v, want a SyntaxError", err)
		return
	}
	if syntax.Offset < 0 || syntax.Offset > size {
		t.Errorf("%v: no byte of the %d", err, size)
	}
}

func TestSyntaxErrorText(t *testing.T) {
	err := new(wire.Broadcast).Parse(field(nil, 3, []byte{0x80}))
	if want := "wire: malformed Probe: cut or overlong tag at byte 2"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The offset is that of the outermost message, however deep the fault.
func TestSyntaxErrorOffset(t *testing.T) {
	spec := field(nil, 1, seq(0, 32))
	at := len(spec)
	spec = append(spec, 5<<3|2, 20) // an admin without its bytes
	open := field(varint(nil, 99, 1), 1, spec)
	hello := field(nil, 1, field(nil, 1, spec))
	good := field(nil, 1, field(nil, 1, seq(0, 32)))
	probe := field(nil, 3, append(varint(nil, 1, 7), 0xff))

	tests := []struct {
		name  string
		parse func() error
		want  wire.SyntaxError
	}{
		{
			"cohort in a hello",
			func() error { _, err := wire.ParseFirst(hello); return err },
			wire.SyntaxError{Message: "CohortSpec", Offset: 4 + at, Reason: "length beyond the message's end"},
		},
		{
			"field after a cohort",
			func() error { _, err := wire.ParseFirst(append(good, 0x80)); return err },
			wire.SyntaxError{Message: "first frame", Offset: len(good), Reason: "cut or overlong tag"},
		},
		{
			"cohort of an open",
			func() error { _, err := wire.ParseFirst(open); return err },
			wire.SyntaxError{Message: "CohortSpec", Offset: len(open) - len(spec) + at, Reason: "length beyond the message's end"},
		},
		{
			"probe",
			func() error { return new(wire.Broadcast).Parse(probe) },
			wire.SyntaxError{Message: "Probe", Offset: 4, Reason: "cut or overlong tag"},
		},
		{
			"ack without status",
			func() error { _, err := wire.ParseAck(varint(nil, 100, 5)); return err },
			wire.SyntaxError{Message: "Ack", Offset: 3, Reason: "no known status"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *wire.SyntaxError
			if err := tt.parse(); !errors.As(err, &got) || *got != tt.want {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
		})
	}
}
