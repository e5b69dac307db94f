package nodeflags

import (
	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/node/process"
)

// PodMaxPIDs is the flag --pod-max-pids, which limits the processes of a container.
type PodMaxPIDs int64

// Add defines the flag.
func (p *PodMaxPIDs) Add(flags *pflag.FlagSet) {
	flags.Int64Var((*int64)(p), "pod-max-pids", process.DefaultPodMaxPIDs,
		"how many processes and threads a container may have, where cgroups allow; -1 sets no limit")
}

// Checked returns the number, -1 for no limit.
func (p PodMaxPIDs) Checked() (int64, error) {
	if p == 0 || p < -1 {
		return 0, command.BadInputf("--pod-max-pids %d: write how many processes a container may have, or -1 for no limit", int64(p))
	}
	return int64(p), nil
}
