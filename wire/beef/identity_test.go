package beef_test

import (
	"testing"

	"treecast/wire/beef"
)

func TestSenderOf(t *testing.T) {
	overlay := [32]byte{1, 2, 14: 15, 15: 16}
	want := [16]byte{0xFD, 1, 2, 15: 15}
	if got := beef.SenderOf(overlay); got != want {
		t.Errorf("sender %x, want %x", got, want)
	}
}
