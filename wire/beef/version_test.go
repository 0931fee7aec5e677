package beef_test

import (
	"testing"

	"treecast/wire/beef"
)

func TestVersionNames(t *testing.T) {
	for v, name := range map[beef.Version]string{
		beef.VersionBEEF:   "beef",
		beef.VersionBEEFV2: "beefv2",
		beef.VersionAtomic: "atomic",
	} {
		got, ok := beef.ParseVersion(name)
		if v.String() != name || !ok || got != v {
			t.Errorf("%v is %v", name, got)
		}
	}
	for _, name := range []string{"", "none", "BEEF", "beefv1"} {
		if v, ok := beef.ParseVersion(name); ok {
			t.Errorf("%q is %v", name, v)
		}
	}
}
