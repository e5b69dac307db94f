package main

import (
	"errors"
	"flag"
	"io"

	"k8s.io/klog/v2"
)

// quiet keeps everything but errors out of the report.
func quiet() error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	klog.SetOutput(io.Discard)
	return errors.Join(flags.Set("logtostderr", "false"), flags.Set("stderrthreshold", "ERROR"))
}
