package targetflags

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/node/process"
)

// StartTimeout is the flag --start-timeout, which limits how long a command waits for other processes of Stint.
type StartTimeout time.Duration

// Add defines the flag.
func (s *StartTimeout) Add(flags *pflag.FlagSet) {
	flags.DurationVar((*time.Duration)(s), "start-timeout", process.DefaultStartTimeout,
		"how long to wait for the host process to start, and for another stint process to be ready or to release the data directory")
}

// Checked returns the timeout.
func (s StartTimeout) Checked() (time.Duration, error) {
	if s <= 0 {
		return 0, command.BadInputf("--start-timeout %s: write how long to wait, such as 5m", time.Duration(s))
	}
	return time.Duration(s), nil
}
