package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/server"
)

// where holds the flags that choose a server.
type where struct {
	kubeconfig string
	context    string
	local      bool
	namespace  string
	dataDir    string
	start      startTimeout
}

func (w *where) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&w.kubeconfig, "kubeconfig", "", "file that names a cluster (default $KUBECONFIG; else this machine)")
	flags.StringVar(&w.context, "context", "", "context of the kubeconfig")
	flags.BoolVar(&w.local, "local", false, "this machine, whatever $KUBECONFIG says")
	flags.StringVarP(&w.namespace, "namespace", "n", "", "namespace of objects that name none (default \"default\")")
	addDataDir(flags, &w.dataDir)
	w.start.add(flags)
}

func addDataDir(flags *pflag.FlagSet, dir *string) {
	flags.StringVar(dir, "data-dir", "", "where Stint keeps its data (default $STINT_DATA_DIR, else ~/.local/share/stint)")
}

// options fills in the defaults.
func (w *where) options() (target.Options, error) {
	dir, err := dataDir(w.dataDir)
	if err != nil {
		return target.Options{}, err
	}
	timeout, err := w.start.checked()
	if err != nil {
		return target.Options{}, err
	}
	if wrong := validation.ValidateNamespaceName(w.namespace, false); w.namespace != "" && len(wrong) > 0 {
		return target.Options{}, badInputf("--namespace: cannot be %q: a namespace has lower-case letters, digits and -", w.namespace)
	}
	if w.local && (w.kubeconfig != "" || w.context != "") {
		return target.Options{}, badInputf("--local is this machine, and --kubeconfig and --context name a cluster: leave one out")
	}
	return target.Options{Kubeconfig: w.kubeconfig, Context: w.context, Local: w.local, DataDir: dir, Namespace: w.namespace,
		StartTimeout: timeout, Flags: w.given(dir)}, nil
}

func (w *where) caller(dataDir string) target.Caller {
	return target.Options{Flags: w.given(dataDir)}.Caller()
}

// given are the flags that choose the server, for commands that are to find it from any directory.
func (w *where) given(dataDir string) []string {
	var flags []string
	if path, err := filepath.Abs(w.kubeconfig); w.kubeconfig != "" && err == nil {
		flags = append(flags, "--kubeconfig", path)
	}
	if w.context != "" {
		flags = append(flags, "--context", w.context)
	}
	if w.local {
		flags = append(flags, "--local")
	}
	if w.dataDir != "" {
		flags = append(flags, "--data-dir", dataDir)
	}
	return flags
}

// connect finds the server. Start makes one on the data directory where none runs; nil makes none.
func (w *where) connect(ctx context.Context, start func(server.Options) target.Start) (*target.Target, error) {
	options, err := w.options()
	if err != nil {
		return nil, err
	}
	quietLibraries()
	if start == nil {
		return target.Connect(ctx, options, nil)
	}
	t, err := target.Connect(ctx, options, start(server.Options{DataDir: options.DataDir, StartTimeout: options.StartTimeout}))
	if errors.Is(err, errNoData) {
		return nil, fmt.Errorf("there is no data in %s: %w; choose another directory with --data-dir, or run Jobs with %s",
			options.DataDir, err, options.Caller().Command("", "run", "-f", "FILE"))
	}
	return t, err
}

// dataDir is absolute, because the host process and the containers work elsewhere.
func dataDir(dir string) (string, error) {
	if dir == "" {
		var err error
		if dir, err = target.DefaultDataDir(); err != nil {
			return "", err
		}
	}
	return filepath.Abs(dir)
}
