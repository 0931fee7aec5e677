package lane

import "testing"

func TestDoorAddress(t *testing.T) {
	for _, test := range []struct {
		door Door
		want string
	}{
		{Door{}, ":8725"},
		{Door{RecordsOnly: true}, ":8728"},
		{Door{UDP: true}, ":8725"},
		{Door{Addr: "127.0.0.1"}, "127.0.0.1:8725"},
		{Door{Addr: "::1"}, "[::1]:8725"},
		{Door{Addr: "[::1]", RecordsOnly: true}, "[::1]:8728"},
		{Door{Addr: "localhost:0"}, "localhost:0"},
		{Door{Addr: ":9"}, ":9"},
	} {
		if got, err := test.door.address(); err != nil || got != test.want {
			t.Errorf("%q: %q, %v, want %q", test.door.Addr, got, err, test.want)
		}
	}
}
