// Command stint runs Kubernetes Jobs, with or without Kubernetes.
package main

import (
	"fmt"
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli"
	"github.com/stint-dev/stint/internal/closeonexec"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node/process"
)

func main() {
	if err := closeonexec.Keep(); err != nil {
		fmt.Fprintln(os.Stderr, "Error: cannot mark the open files of the caller as close-on-exec:", err)
		os.Exit(1)
	}
	// The host process, which owns the containers, is this program as well.
	if handled, code := process.HostMain(os.Args); handled {
		os.Exit(code)
	}
	if handled, code := store.ChildMain(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(cli.Main(os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
}
