package nodeflags

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestLocalStorageClasses(t *testing.T) {
	for args, want := range map[string][]string{
		"":                                     nil,
		"--local-storage-classes=standard,gp3": {"standard", "gp3"},
		"--local-storage-classes=standard --local-storage-classes=ssd.io": {"standard", "ssd.io"},
		"--local-storage-classes=*":                                       {"*"},
	} {
		if got, err := parseLocalStorageClasses(t, args); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", args, got, err, want)
		}
	}
	for _, args := range []string{"--local-storage-classes=Fast", "--local-storage-classes=a,,b", "--local-storage-classes=std*"} {
		if _, err := parseLocalStorageClasses(t, args); err == nil || !strings.HasPrefix(err.Error(), "--local-storage-classes: ") {
			t.Errorf("%s: the error %v does not begin with the flag", args, err)
		}
	}
}

func parseLocalStorageClasses(t *testing.T, args string) ([]string, error) {
	t.Helper()
	var l LocalStorageClasses
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	l.Add(flags)
	if err := flags.Parse(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	return l.Checked()
}
