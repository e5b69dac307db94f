package nodeflags

import (
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/node/podlogs"
)

// KeepLogs is the flag --keep-logs, which limits the logs of deleted pods.
type KeepLogs string

// Add defines the flag.
func (k *KeepLogs) Add(flags *pflag.FlagSet) {
	bound := resource.NewQuantity(podlogs.DefaultLimit, resource.BinarySI)
	flags.StringVar((*string)(k), "keep-logs", bound.String(),
		"how much of the logs of deleted pods to keep while their Jobs exist; the oldest are deleted first; 0 keeps none")
}

// Bytes returns the limit.
func (k *KeepLogs) Bytes() (*int64, error) {
	q, err := resource.ParseQuantity(string(*k))
	if err != nil || q.Sign() < 0 {
		return nil, command.BadInputf("--keep-logs %q: write a quantity of bytes such as 500Mi, or 0", string(*k))
	}
	bytes := q.Value()
	return &bytes, nil
}
