package controllerflags

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/controller/podgc"
)

// TerminatedPods is the flag --terminated-pod-gc-threshold, which limits the terminated pods of a server.
type TerminatedPods struct{ threshold int }

// Add defines the flag.
func (f *TerminatedPods) Add(flags *pflag.FlagSet) {
	f.threshold = podgc.DefaultThreshold
	flags.Var(thresholdFlag{&f.threshold}, "terminated-pod-gc-threshold",
		"how many terminated pods to keep before the oldest are deleted, once they are counted; their results and logs stay; 0 or less keeps all")
}

// Threshold returns the limit; 0 or less is none.
func (f *TerminatedPods) Threshold() *int { return &f.threshold }

type thresholdFlag struct{ threshold *int }

func (f thresholdFlag) Type() string { return "int" }

func (f thresholdFlag) String() string {
	if f.threshold == nil {
		return ""
	}
	return strconv.Itoa(*f.threshold)
}

func (f thresholdFlag) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return errors.New("must be a whole number of pods, such as 1000; 0 or less keeps all")
	}
	*f.threshold = int(n)
	return nil
}
