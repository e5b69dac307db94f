package cli

import (
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/node"
)

// keepLogs is the flag that bounds the logs of deleted pods.
type keepLogs string

func (k *keepLogs) add(flags *pflag.FlagSet) {
	bound := resource.NewQuantity(node.DefaultKeepLogs, resource.BinarySI)
	flags.StringVar((*string)(k), "keep-logs", bound.String(),
		"how much of the logs of deleted pods to keep while their Jobs exist, oldest go first; 0 keeps none")
}

func (k *keepLogs) bytes() (*int64, error) {
	q, err := resource.ParseQuantity(string(*k))
	if err != nil || q.Sign() < 0 {
		return nil, badInputf("--keep-logs %q: write a quantity of bytes such as 500Mi, or 0", string(*k))
	}
	bytes := q.Value()
	return &bytes, nil
}
