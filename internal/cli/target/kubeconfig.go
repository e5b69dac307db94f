package target

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
)

func fromKubeconfig(o Options, paths []string) (*Target, error) {
	if err := someExists(o, paths); err != nil {
		return nil, err
	}
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: paths}
	if o.Kubeconfig != "" {
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, configErr := loader.ClientConfig()
	namespace, _, namespaceErr := loader.Namespace()
	raw, rawErr := loader.RawConfig()
	if err := cmp.Or(configErr, namespaceErr, rawErr); err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", strings.Join(paths, ", "), err)
	}
	return &Target{Kind: Cluster, Context: cmp.Or(o.Context, raw.CurrentContext), Config: config,
		Namespace: cmp.Or(o.Namespace, namespace), Caller: Caller{Flags: o.Flags, Namespace: namespace}}, nil
}

// someExists returns an error that names the files if none exists. client-go's own error does not name them.
func someExists(o Options, paths []string) error {
	for _, path := range paths {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	named := "$KUBECONFIG"
	if o.Kubeconfig != "" {
		named = "--kubeconfig"
	}
	return fmt.Errorf("there is no %s, which %s names: correct it, or run on this machine with --local", strings.Join(paths, " and no "), named)
}
