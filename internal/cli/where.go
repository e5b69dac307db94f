package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/server"
)

// where holds the flags that choose a server.
type where struct {
	kubeconfig string
	context    string
	namespace  string
	dataDir    string
}

func (w *where) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&w.kubeconfig, "kubeconfig", "", "file that names a cluster (default $KUBECONFIG; else this machine)")
	flags.StringVar(&w.context, "context", "", "context of the kubeconfig")
	flags.StringVarP(&w.namespace, "namespace", "n", "", "namespace of objects that name none (default \"default\")")
	addDataDir(flags, &w.dataDir)
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
	return target.Options{Kubeconfig: w.kubeconfig, Context: w.context, DataDir: dir, Namespace: w.namespace}, nil
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

// embedded starts servers inside this process.
func embedded(o server.Options) target.Start {
	o.Version = stintVersion()
	return func(ctx context.Context) (target.Server, error) {
		s, err := server.Start(ctx, o)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}
