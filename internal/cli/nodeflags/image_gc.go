package nodeflags

import (
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/image/store"
)

// ImageGC are the flags of the removal of unused images. Their names are those of the kubelet, which has no flag for a limit.
type ImageGC struct {
	limit     string
	high, low int
	minAge    time.Duration
}

// Add defines the flags.
func (f *ImageGC) Add(flags *pflag.FlagSet) {
	usual := store.DefaultGCPolicy()
	flags.StringVar(&f.limit, "image-store-limit", "",
		"how much space the images may take, such as 20Gi; above it the least recently used are removed (default no limit)")
	flags.IntVar(&f.high, "image-gc-high-threshold", usual.HighThreshold,
		"disk usage in percent at which unused images begin to be removed, a disk above 64Gi counting as one of 64Gi; 100 disables it")
	flags.IntVar(&f.low, "image-gc-low-threshold", usual.LowThreshold, "disk usage in percent at which their removal ends")
	flags.DurationVar(&f.minAge, "minimum-image-ttl-duration", usual.MinAge, "how long an image is kept at least after its last use")
}

// Policy returns the policy of the flags.
func (f *ImageGC) Policy() (store.GCPolicy, error) {
	p := store.GCPolicy{HighThreshold: f.high, LowThreshold: f.low, MinAge: f.minAge}
	switch {
	case f.high < 1 || f.high > 100:
		return p, command.BadInputf("--image-gc-high-threshold %d: write a percentage from 1 to 100", f.high)
	case f.low < 0 || f.low >= f.high:
		return p, command.BadInputf("--image-gc-low-threshold %d: write a percentage below --image-gc-high-threshold, which is %d", f.low, f.high)
	case f.minAge < 0:
		return p, command.BadInputf("--minimum-image-ttl-duration %s: write a duration such as 2m, or 0", f.minAge)
	case f.limit == "":
		return p, nil
	}
	q, err := resource.ParseQuantity(f.limit)
	if err != nil || q.Sign() <= 0 {
		return p, command.BadInputf("--image-store-limit %q: write a quantity of bytes such as 20Gi, or leave it out for no limit", f.limit)
	}
	p.Limit = q.Value()
	return p, nil
}
