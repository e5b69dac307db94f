package cli

import (
	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/node/process"
)

// podMaxPIDs is the flag that bounds how many processes a container has.
type podMaxPIDs int64

func (p *podMaxPIDs) add(flags *pflag.FlagSet) {
	flags.Int64Var((*int64)(p), "pod-max-pids", process.DefaultPodMaxPIDs,
		"how many processes and threads a container may have, where cgroups allow; -1 sets no limit")
}

func (p podMaxPIDs) checked() (int64, error) {
	if p == 0 || p < -1 {
		return 0, badInputf("--pod-max-pids %d: write how many processes a container may have, or -1 for no limit", int64(p))
	}
	return int64(p), nil
}
