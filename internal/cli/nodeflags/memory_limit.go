package nodeflags

import (
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/memory"
)

// minMemoryLimit is twice what an idle server takes.
const minMemoryLimit = 64 << 20

// MemoryLimit is the flag --memory-limit, which limits the memory of the server itself.
type MemoryLimit string

// Add defines the flag.
func (m *MemoryLimit) Add(flags *pflag.FlagSet) {
	flags.StringVar((*string)(m), "memory-limit", "",
		"how much memory the server itself may take, pods not included; near it new objects are refused "+
			"(default: a quarter of the machine, at most 1Gi)")
}

// Bytes returns the limit.
func (m *MemoryLimit) Bytes() (int64, error) {
	if *m == "" {
		return memory.DefaultLimit(), nil
	}
	q, err := resource.ParseQuantity(string(*m))
	if err != nil || q.Value() < minMemoryLimit {
		return 0, command.BadInputf("--memory-limit %q: write a quantity of bytes such as 512Mi, at least 64Mi", string(*m))
	}
	return q.Value(), nil
}
