package cli

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// runtimeFlags choose what runs the containers of pods that do not say.
type runtimeFlags struct {
	flag     string
	imageDir string
}

var runtimeClasses = []string{runtime.ClassOCI, runtime.ClassProcess}

func (f *runtimeFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.flag, "runtime", "",
		"what runs containers of pods without a runtimeClassName: oci (the image) or process (programs of this machine) (default $STINT_RUNTIME, else oci)")
	flags.StringVar(&f.imageDir, "image-dir", "", "directory of images, where it is not the user's (see stint image --help)")
}

// class is the one in force.
func (f *runtimeFlags) class() (string, error) {
	from, class := "--runtime", f.flag
	if class == "" {
		from, class = "STINT_RUNTIME", cmp.Or(os.Getenv("STINT_RUNTIME"), runtime.ClassOCI)
	}
	switch {
	case class == "cri":
		return "", badInputf("containers through CRI are not there yet: use --runtime %s", strings.Join(runtimeClasses, " or "))
	case !slices.Contains(runtimeClasses, class):
		return "", badInputf("%s %s is not there: use %s", from, class, strings.Join(runtimeClasses, " or "))
	}
	return class, nil
}
