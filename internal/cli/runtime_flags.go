package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// runtimeFlags choose what runs the containers of pods that do not say.
type runtimeFlags struct {
	class    string
	imageDir string
	flags    *pflag.FlagSet
}

var runtimeClasses = []string{runtime.ClassProcess, runtime.ClassOCI}

func (f *runtimeFlags) add(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringVar(&f.class, "runtime", runtime.ClassProcess,
		"what runs containers of pods without a runtimeClassName: process (programs of this machine) or oci (the image)")
	flags.StringVar(&f.imageDir, "image-dir", "", "directory of images, where it is not the user's (see stint image --help)")
}

func (f *runtimeFlags) check() error {
	switch {
	case f.class == "cri":
		return badInputf("containers through CRI are not there yet: use --runtime %s", strings.Join(runtimeClasses, " or "))
	case !slices.Contains(runtimeClasses, f.class):
		return badInputf("--runtime %s is not there: use %s", f.class, strings.Join(runtimeClasses, " or "))
	}
	return nil
}

// chosen is the class that the command line asks for; empty where it does not.
func (f *runtimeFlags) chosen() string {
	if !f.flags.Changed("runtime") {
		return ""
	}
	return f.class
}
