package target

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/store"
)

const clusterConfig = `apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: c, cluster: {server: "https://cluster.example:6443"}}
users:
- {name: u, user: {token: t}}
contexts:
- {name: one, context: {cluster: c, user: u, namespace: team}}
- {name: two, context: {cluster: c, user: u}}
`

func TestDefaultDataDir(t *testing.T) {
	for sentence, tc := range map[string]struct{ stint, xdg, want string }{
		"what the user says":             {"/a", "/x", "/a"},
		"else beside other data":         {"", "/x", "/x/stint"},
		"a relative XDG path is ignored": {"", "x", "/h/.local/share/stint"},
		"else in the home directory":     {"", "", "/h/.local/share/stint"},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Setenv("STINT_DATA_DIR", tc.stint)
			t.Setenv("XDG_DATA_HOME", tc.xdg)
			t.Setenv("HOME", "/h")
			got, err := DefaultDataDir()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// idle is a server that does nothing until it is stopped.
type idle struct{ ctx context.Context }

func (i idle) RESTConfig() *rest.Config { return &rest.Config{Host: "https://inside"} }

func (i idle) Wait() error {
	<-i.ctx.Done()
	return i.ctx.Err()
}

func startIdle(ctx context.Context) (Server, error) { return idle{ctx}, nil }

func TestConnectChooses(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte(clusterConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(data, "kubeconfig")
	dead := strings.Replace(clusterConfig, "cluster.example:6443", "127.0.0.1:1", 1)
	if err := os.WriteFile(own, []byte(dead), 0o600); err != nil {
		t.Fatal(err)
	}
	type choice struct {
		Kind            Kind
		Host, Namespace string
	}
	for sentence, tc := range map[string]struct {
		env  string
		o    Options
		want choice
	}{
		"the cluster of the flag":                {"", Options{Kubeconfig: config}, choice{Cluster, "https://cluster.example:6443", "team"}},
		"the cluster of KUBECONFIG":              {config, Options{}, choice{Cluster, "https://cluster.example:6443", "team"}},
		"the context that is asked for":          {config, Options{Context: "two"}, choice{Cluster, "https://cluster.example:6443", "default"}},
		"the namespace that is asked for":        {config, Options{Namespace: "mine"}, choice{Cluster, "https://cluster.example:6443", "mine"}},
		"itself where no server answers":         {"", Options{}, choice{Embedded, "https://inside", "default"}},
		"itself where KUBECONFIG means itself":   {own, Options{Namespace: "mine"}, choice{Embedded, "https://inside", "mine"}},
		"itself where KUBECONFIG names no files": {string(filepath.ListSeparator), Options{}, choice{Embedded, "https://inside", "default"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tc.env)
			tc.o.DataDir = data
			got, err := Connect(t.Context(), tc.o, startIdle)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, choice{got.Kind, got.Config.Host, got.Namespace}); diff != "" {
				t.Error(diff)
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestConnectFails(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	dir := t.TempDir()
	if _, err := Connect(t.Context(), Options{DataDir: dir}, nil); !errors.Is(err, ErrNoServer) {
		t.Errorf("nothing to start: %v", err)
	}
	missing := filepath.Join(dir, "missing")
	if _, err := Connect(t.Context(), Options{DataDir: dir, Kubeconfig: missing}, startIdle); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a kubeconfig that is not there: %v", err)
	}
	broken := errors.New("disk on fire")
	start := func(context.Context) (Server, error) { return nil, broken }
	if _, err := Connect(t.Context(), Options{DataDir: dir}, start); !errors.Is(err, broken) {
		t.Errorf("a server that cannot start: %v", err)
	}
}

func TestConnectWaitsForALookToEnd(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	dir := t.TempDir()
	tries := 0
	start := func(ctx context.Context) (Server, error) {
		if tries++; tries < 3 {
			return nil, &store.LockedError{Dir: dir, PID: 1}
		}
		return idle{ctx}, nil
	}
	got, err := Connect(t.Context(), Options{DataDir: dir}, start)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Close(); err != nil {
		t.Error(err)
	}
}
