package cli

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/node/process"
)

// startTimeout is the flag that bounds how long Stint waits for its own parts.
type startTimeout time.Duration

func (s *startTimeout) add(flags *pflag.FlagSet) {
	flags.DurationVar((*time.Duration)(s), "start-timeout", process.DefaultStartTimeout,
		"how long to wait for the host process to start, and for another stint to answer or to let go of the data directory")
}

func (s startTimeout) checked() (time.Duration, error) {
	if s <= 0 {
		return 0, badInputf("--start-timeout %s: write how long to wait, such as 5m", time.Duration(s))
	}
	return time.Duration(s), nil
}
