package run

import (
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/controllerflags"
	"github.com/stint-dev/stint/internal/cli/embedded"
	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/nodeflags"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/run/dirclaim"
	"github.com/stint-dev/stint/internal/cli/targetflags"
	"github.com/stint-dev/stint/internal/server"
)

type runFlags struct {
	targetflags.Flags
	files       []string
	kustomize   string
	format      string
	quiet       bool
	logs        string
	allocatable string
	keepLogs    nodeflags.KeepLogs
	memory      nodeflags.MemoryLimit
	maxPIDs     nodeflags.PodMaxPIDs
	keyring     nodeflags.SessionKeyring
	terminated  controllerflags.TerminatedPods
	runtime     nodeflags.Runtime
	imageGC     nodeflags.ImageGC
	classes     nodeflags.LocalStorageClasses
	claims      []string
}

// NewCommand returns the command stint run.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:     "run -f FILE",
		Short:   "Run the Jobs of manifests to their end",
		GroupID: command.GroupJobs,
		Long: `Create the Jobs and the other objects of manifests, and show progress and logs until all Jobs have finished.

It uses the cluster of --kubeconfig or $KUBECONFIG; else the stint server that runs on the data directory; else it
runs the Jobs itself. On this machine containers run from their images or, with --runtime process, with the programs
that are installed.

Everything is checked before anything is created. A finished Job of the same name is replaced; a running one that was
created from the same manifest is followed. Ctrl-C deletes the Jobs, and their pods get their grace period; a second
Ctrl-C kills the pods. If the output is closed, as by head, that is the same as Ctrl-C.

Exit status: 0 if every Job completed, 1 if one failed, 2 for bad input, 130 after Ctrl-C.`,
		Example: `  stint run -f job.yaml
  stint run -f config.yaml -f jobs.yaml -n batch
  stint run -f job.yaml --claim data=./data
  generate-jobs | stint run -f - -o json`,
		Args: command.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := f.options(streams)
			if err != nil {
				return err
			}
			interrupts, stop := command.Interrupts(streams.Out)
			defer stop()
			options.Interrupts = interrupts
			command.QuietLibraries()
			return Run(cmd.Context(), options)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "manifest to run, YAML or JSON: a file, a directory, a URL, or - for standard input; repeatable")
	flags.StringVarP(&f.kustomize, "kustomize", "k", "", "directory with a kustomization to run")
	flags.StringVarP(&f.format, "output", "o", "", "json: one JSON object per line, for programs")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show log lines and failures only")
	flags.StringVar(&f.logs, "logs", string(LogsAll), "pods whose logs are shown: all, failed or none")
	flags.StringVar(&f.allocatable, "allocatable", "", "what all pods together may request, such as cpu=4,memory=8Gi (default: the machine)")
	f.keepLogs.Add(flags)
	f.memory.Add(flags)
	f.maxPIDs.Add(flags)
	f.keyring.Add(flags)
	f.terminated.Add(flags)
	f.runtime.Add(flags)
	f.imageGC.Add(flags)
	f.classes.Add(flags)
	flags.StringArrayVar(&f.claims, "claim", nil,
		"make the PersistentVolumeClaim that Jobs name, of a directory of this machine: NAME=DIR; repeatable")
	f.Add(flags)
	return cmd
}

// check checks the flags that concern what is run and what is shown.
func (f *runFlags) check() error {
	switch {
	case len(f.files) == 0 && f.kustomize == "":
		return command.BadInputf("no manifest: name one with -f FILE, or -f - for standard input, or a kustomization with -k DIR")
	case f.format != "" && f.format != "json":
		return command.BadInputf("-o %s is not supported: -o json writes JSON lines", f.format)
	case f.format == "json" && f.quiet:
		return command.BadInputf("-q and -o json exclude each other: leave one out")
	case !slices.Contains([]Logs{LogsAll, LogsFailed, LogsNone}, Logs(f.logs)):
		return command.BadInputf("--logs=%s is not supported: use all, failed or none", f.logs)
	}
	return nil
}

func (f *runFlags) options(streams genericiooptions.IOStreams) (Options, error) {
	if err := f.check(); err != nil {
		return Options{}, err
	}
	allocatable, err := nodeflags.ParseAllocatable(f.allocatable)
	if err != nil {
		return Options{}, err
	}
	keep, err := f.keepLogs.Bytes()
	if err != nil {
		return Options{}, err
	}
	memoryLimit, err := f.memory.Bytes()
	if err != nil {
		return Options{}, err
	}
	maxPIDs, err := f.maxPIDs.Checked()
	if err != nil {
		return Options{}, err
	}
	keepKeyring, err := f.keyring.Keep()
	if err != nil {
		return Options{}, err
	}
	class, err := f.runtime.Class()
	if err != nil {
		return Options{}, err
	}
	imageGC, err := f.imageGC.Policy()
	if err != nil {
		return Options{}, err
	}
	classes, err := f.classes.Checked()
	if err != nil {
		return Options{}, err
	}
	claims, err := dirclaim.Parse(f.claims)
	if err != nil {
		return Options{}, err
	}
	where, err := f.Flags.Options()
	if err != nil {
		return Options{}, err
	}
	return Options{
		From: manifest.Sources{Files: f.files, Kustomize: f.kustomize, Stdin: streams.In}, Logs: Logs(f.logs), Target: where,
		Claims:       claims,
		RuntimeClass: class, RuntimeAsked: f.runtime.Flag != "", ClassesAsked: len(classes) > 0,
		Start: embedded.Server(server.Options{DataDir: where.DataDir, StartTimeout: where.StartTimeout, Listen: "127.0.0.1:0", Node: true,
			Allocatable: allocatable, KeepLogs: keep, MemoryLimit: memoryLimit, PodMaxPIDs: maxPIDs, KeepSessionKeyring: keepKeyring,
			LocalStorageClasses:      classes,
			TerminatedPodGCThreshold: f.terminated.Threshold(),
			RuntimeClass:             class, ImageDir: f.runtime.ImageDir, ImageGC: imageGC}),
		Output: func() output.Output { return NewOutput(streams, f.format == "json", f.quiet) },
	}, nil
}
