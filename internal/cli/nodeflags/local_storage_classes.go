package nodeflags

import (
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/stint-dev/stint/internal/cli/command"
)

// LocalStorageClasses is the flag --local-storage-classes, which names the StorageClasses that are served as "local" is.
type LocalStorageClasses []string

// Add defines the flag.
func (l *LocalStorageClasses) Add(flags *pflag.FlagSet) {
	flags.StringSliceVar((*[]string)(l), "local-storage-classes", nil,
		"StorageClasses whose claims get a directory of this machine, as those of the class local do, although they do not exist or "+
			"name another provisioner; * for all")
}

// Checked returns the names of the classes, * for all.
func (l LocalStorageClasses) Checked() ([]string, error) {
	for _, name := range l {
		if wrong := validation.IsDNS1123Subdomain(name); name != "*" && len(wrong) > 0 {
			return nil, command.BadInputf("--local-storage-classes: %q cannot be the name of a StorageClass: %s; separate names by commas, or write '*' for all",
				name, strings.Join(wrong, "; "))
		}
	}
	return l, nil
}
