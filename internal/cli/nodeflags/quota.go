package nodeflags

import (
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/store"
)

// Quota is the flag --quota-backend-bytes, which limits the size of the store.
type Quota string

// minQuota is room for the objects of an idle server.
const minQuota = 16 << 20

// Add defines the flag.
func (q *Quota) Add(flags *pflag.FlagSet) {
	flags.StringVar((*string)(q), "quota-backend-bytes", resource.NewQuantity(store.DefaultQuota, resource.BinarySI).String(),
		"how much the objects may take in the store; above 7/8 of it no objects can be created")
}

// Bytes returns the limit.
func (q *Quota) Bytes() (int64, error) {
	limit, err := resource.ParseQuantity(string(*q))
	if err != nil || limit.Value() < minQuota {
		return 0, command.BadInputf("--quota-backend-bytes %q: write a quantity of bytes such as 8Gi, of at least 16Mi", string(*q))
	}
	return limit.Value(), nil
}
