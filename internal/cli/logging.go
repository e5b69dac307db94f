package cli

import (
	"flag"
	"io"
	"strconv"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// quietLibraries keeps what libraries log away from the user's terminal: errors are returned.
func quietLibraries() {
	klog.SetLogger(logr.Discard())
}

// logLibraries shows on stderr what libraries warn of, and the rest from verbosity 1 on.
func logLibraries(verbosity int) {
	if verbosity > 0 {
		logService(verbosity)
		return
	}
	setLog(map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "WARNING"})
	klog.SetOutput(io.Discard)
}

// logService shows on stderr what a component of a cluster is expected to tell.
func logService(verbosity int) {
	setLog(map[string]string{"v": strconv.Itoa(verbosity)})
}

func setLog(settings map[string]string) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range settings {
		if err := flags.Set(name, value); err != nil {
			panic("klog has no flag " + name) // a change of the library that no input can cause
		}
	}
}
