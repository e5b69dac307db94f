// Package nodeflags has the flags of the commands that run pods on this machine: stint run and stint server.
package nodeflags

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Runtime are the flags about what runs the containers of pods without a runtimeClassName.
type Runtime struct {
	Flag     string
	ImageDir string
}

var runtimeClasses = []string{runtime.ClassOCI, runtime.ClassProcess}

// Add defines the flags.
func (f *Runtime) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Flag, "runtime", "",
		"what runs containers of pods without a runtimeClassName: oci (the image) or process (programs of this machine) (default $STINT_RUNTIME, else oci)")
	flags.StringVar(&f.ImageDir, "image-dir", "", "directory of the image store (default: that of the user, see stint image --help)")
}

// Class returns the RuntimeClass of the flag, else of STINT_RUNTIME, else the default.
func (f *Runtime) Class() (string, error) {
	from, class := "--runtime", f.Flag
	if class == "" {
		from, class = "STINT_RUNTIME", cmp.Or(os.Getenv("STINT_RUNTIME"), runtime.ClassOCI)
	}
	switch {
	case class == "cri":
		return "", command.BadInputf("containers through CRI are not supported yet: use --runtime %s", strings.Join(runtimeClasses, " or "))
	case !slices.Contains(runtimeClasses, class):
		return "", command.BadInputf("%s %s is not a runtime: use %s", from, class, strings.Join(runtimeClasses, " or "))
	}
	return class, nil
}
