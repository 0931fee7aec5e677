package wire_test

import (
	"testing"

	"treecast/wire"
)

func TestAuthSizes(t *testing.T) {
	owner := wire.Owner(seq(1, 20))
	tests := []struct {
		name string
		msg  []byte
		want *wire.Auth
	}{
		{"nothing", nil, nil},
		{"no owner", field(nil, 2, seq(0, 32)), nil},
		{"empty owner", field(nil, 1, nil), nil},
		{"owner", field(nil, 1, owner[:]), &wire.Auth{Owner: owner}},
		{"owner of 19", field(nil, 1, owner[:19]), &wire.Auth{}},
		{"owner of 21", field(nil, 1, seq(1, 21)), &wire.Auth{}},
		{"two owners", field(field(nil, 1, seq(9, 20)), 1, owner[:]), &wire.Auth{Owner: owner}},
		{"owner, then one of 1", field(field(nil, 1, owner[:]), 1, seq(0, 1)), &wire.Auth{}},
		{"owner as number", varint(nil, 1, 20), nil},
		{
			"other sizes", field(field(field(nil, 1, owner[:]), 2, seq(0, 8)), 100, seq(0, 64)),
			&wire.Auth{Owner: owner, ID: seq(0, 8), Proof: seq(0, 64)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			open := wire.Open{Spec: wire.Spec{Topic: wire.Topic{1}}}
			first, err := wire.ParseFirst(field(open.Append(nil), 2, tt.msg))
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(tt.want, first.Open.Auth); d != "" {
				t.Errorf("in an open (-want +got):\n%s", d)
			}
			subscribe := wire.Subscribe{Topic: wire.Topic{1}}
			if first, err = wire.ParseFirst(field(subscribe.Append(nil), 2, tt.msg)); err != nil {
				t.Fatal(err)
			}
			if d := diff(tt.want, first.Subscribe.Auth); d != "" {
				t.Errorf("in a subscribe (-want +got):\n%s", d)
			}
		})
	}
}
