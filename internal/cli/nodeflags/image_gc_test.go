package nodeflags

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/image/store"
)

func TestImageGCFlags(t *testing.T) {
	for args, want := range map[string]store.GCPolicy{
		"": store.DefaultGCPolicy(),
		"--image-store-limit=20Gi --minimum-image-ttl-duration=0":  {HighThreshold: 85, LowThreshold: 80, Limit: 20 << 30},
		"--image-gc-high-threshold=100 --image-gc-low-threshold=0": {HighThreshold: 100, MinAge: 2 * time.Minute},
	} {
		if got, err := parseImageGC(t, args); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", args, got, err, want)
		}
	}
	for args, flag := range map[string]string{
		"--image-store-limit=much":         "--image-store-limit",
		"--image-store-limit=0":            "--image-store-limit",
		"--image-store-limit=-1Gi":         "--image-store-limit",
		"--image-gc-high-threshold=101":    "--image-gc-high-threshold",
		"--image-gc-high-threshold=0":      "--image-gc-high-threshold",
		"--image-gc-high-threshold=70":     "--image-gc-low-threshold",
		"--image-gc-low-threshold=-1":      "--image-gc-low-threshold",
		"--minimum-image-ttl-duration=-1s": "--minimum-image-ttl-duration",
	} {
		if _, err := parseImageGC(t, args); err == nil || !strings.HasPrefix(err.Error(), flag+" ") {
			t.Errorf("%s: the error %v does not begin with %s", args, err, flag)
		}
	}
}

func parseImageGC(t *testing.T, args string) (store.GCPolicy, error) {
	t.Helper()
	var f ImageGC
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Add(flags)
	if err := flags.Parse(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	return f.Policy()
}
