// Package targetflags has the flags that choose a server, and connects to it.
package targetflags

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/embedded"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/server"
)

// Flags are the flags that choose a server.
type Flags struct {
	kubeconfig string
	context    string
	Local      bool
	Namespace  string
	DataDir    string
	start      StartTimeout
}

// Add defines the flags.
func (w *Flags) Add(flags *pflag.FlagSet) {
	flags.StringVar(&w.kubeconfig, "kubeconfig", "", "kubeconfig file of a cluster (default $KUBECONFIG; else this machine)")
	flags.StringVar(&w.context, "context", "", "context of the kubeconfig")
	flags.BoolVar(&w.Local, "local", false, "use this machine and ignore $KUBECONFIG")
	flags.StringVarP(&w.Namespace, "namespace", "n", "", "namespace of objects without one (default \"default\")")
	AddDataDir(flags, &w.DataDir)
	w.start.Add(flags)
}

// AddDataDir defines the flag --data-dir.
func AddDataDir(flags *pflag.FlagSet, dir *string) {
	flags.StringVar(dir, "data-dir", "", "where Stint keeps its data (default $STINT_DATA_DIR, else ~/.local/share/stint)")
}

// Options checks the flags and fills in the defaults.
func (w *Flags) Options() (target.Options, error) {
	dir, err := AbsoluteDataDir(w.DataDir)
	if err != nil {
		return target.Options{}, err
	}
	timeout, err := w.start.Checked()
	if err != nil {
		return target.Options{}, err
	}
	if wrong := validation.ValidateNamespaceName(w.Namespace, false); w.Namespace != "" && len(wrong) > 0 {
		return target.Options{}, command.BadInputf("--namespace: cannot be %q: a namespace has lower-case letters, digits and -", w.Namespace)
	}
	if w.Local && (w.kubeconfig != "" || w.context != "") {
		return target.Options{}, command.BadInputf("--local is this machine, and --kubeconfig and --context name a cluster: leave one out")
	}
	return target.Options{Kubeconfig: w.kubeconfig, Context: w.context, Local: w.Local, DataDir: dir, Namespace: w.Namespace,
		StartTimeout: timeout, Flags: w.given(dir)}, nil
}

// Caller returns the caller for commands that find the same server.
func (w *Flags) Caller(dataDir string) target.Caller {
	return target.Options{Flags: w.given(dataDir)}.Caller()
}

// given returns the given flags that choose the server, with absolute paths, so that they work in any directory.
func (w *Flags) given(dataDir string) []string {
	var flags []string
	if path, err := filepath.Abs(w.kubeconfig); w.kubeconfig != "" && err == nil {
		flags = append(flags, "--kubeconfig", path)
	}
	if w.context != "" {
		flags = append(flags, "--context", w.context)
	}
	if w.Local {
		flags = append(flags, "--local")
	}
	if w.DataDir != "" {
		flags = append(flags, "--data-dir", dataDir)
	}
	return flags
}

// Connect connects to the server. start starts one on the data directory if none runs; nil starts none.
func (w *Flags) Connect(ctx context.Context, start func(server.Options) target.Start) (*target.Target, error) {
	options, err := w.Options()
	if err != nil {
		return nil, err
	}
	command.QuietLibraries()
	if start == nil {
		return target.Connect(ctx, options, nil)
	}
	t, err := target.Connect(ctx, options, start(server.Options{DataDir: options.DataDir, StartTimeout: options.StartTimeout}))
	if errors.Is(err, embedded.ErrNoData) {
		return nil, fmt.Errorf("there is no data in %s: %w; choose another directory with --data-dir, or run Jobs with %s",
			options.DataDir, err, options.Caller().Command("", "run", "-f", "FILE"))
	}
	return t, err
}

// AbsoluteDataDir returns the data directory as an absolute path, as the host process and the containers have other working
// directories.
func AbsoluteDataDir(dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = target.DefaultDataDir(); err != nil {
			return "", err
		}
	}
	return filepath.Abs(dir)
}
