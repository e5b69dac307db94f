package target

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/store"
	"github.com/stint-dev/stint/test/await"
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
		"itself where the user says so":          {config, Options{Local: true}, choice{Embedded, "https://inside", "default"}},
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
	t.Setenv("KUBECONFIG", missing+":"+missing+"2")
	want := "there is no " + missing + " and no " + missing + "2, which $KUBECONFIG names"
	if _, err := Connect(t.Context(), Options{DataDir: dir}, startIdle); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a KUBECONFIG that is not there: %v", err)
	}
	t.Setenv("KUBECONFIG", "")
	if _, err := Connect(t.Context(), Options{DataDir: dir, Context: "prod"}, startIdle); err == nil || !strings.Contains(err.Error(), `"prod"`) {
		t.Errorf("a context of no kubeconfig: %v", err)
	}
	broken := errors.New("disk on fire")
	start := func(context.Context) (Server, error) { return nil, broken }
	if _, err := Connect(t.Context(), Options{DataDir: dir}, start); !errors.Is(err, broken) {
		t.Errorf("a server that cannot start: %v", err)
	}
}

func TestConnectWaitsForAReadingCommandToEnd(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	dir := t.TempDir()
	tries := 0
	start := func(ctx context.Context) (Server, error) {
		if tries++; tries < 3 {
			return nil, &store.LockedError{Dir: dir, PID: 1}
		}
		return idle{ctx}, nil
	}
	got, err := Connect(t.Context(), Options{DataDir: dir, StartTimeout: await.Limit}, start)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Close(); err != nil {
		t.Error(err)
	}
}

// serve starts a server with this handler, and returns a data directory with its kubeconfig.
func serve(t *testing.T, answer http.HandlerFunc) (dataDir string) {
	t.Helper()
	t.Setenv("KUBECONFIG", "")
	s := httptest.NewTLSServer(answer)
	t.Cleanup(s.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	dir := t.TempDir()
	write(t, ownKubeconfig(dir), strings.Replace(clusterConfig, `server: "https://cluster.example:6443"`,
		fmt.Sprintf("server: %q, certificate-authority-data: %s", s.URL, base64.StdEncoding.EncodeToString(authority)), 1))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Another user may have written the data directory, with a kubeconfig that runs a program as the user of the command.
func TestAKubeconfigThatNoServerHasWrittenIsNotUsed(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	ran := filepath.Join(t.TempDir(), "ran")
	program := fmt.Sprintf("exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [%q], interactiveMode: Never}", ran)
	for sentence, change := range map[string][2]string{
		"a program":                {"token: t", "token: t, " + program},
		"a program and no token":   {"token: t", program},
		"no check of the server":   {"certificate-authority-data", "insecure-skip-tls-verify: true, certificate-authority-data"},
		"a proxy":                  {"certificate-authority-data", `proxy-url: "http://127.0.0.1:1", certificate-authority-data`},
		"a file with a token":      {"token: t", "token: t, tokenFile: /etc/hostname"},
		"another user to be":       {"token: t", "token: t, as: root"},
		"no certificate authority": {"certificate-authority-data", "tls-server-name"},
		"no such context":          {"current-context: one", "current-context: three"},
		"no kubeconfig at all":     {"apiVersion", "{{"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var asked atomic.Bool
			dir := serve(t, func(http.ResponseWriter, *http.Request) { asked.Store(true) })
			text, err := os.ReadFile(ownKubeconfig(dir))
			if err != nil {
				t.Fatal(err)
			}
			planted := strings.Replace(string(text), change[0], change[1], 1)
			if planted == string(text) {
				t.Fatal("nothing was planted")
			}
			write(t, ownKubeconfig(dir), planted)
			if _, err := ask(t.Context(), dir, await.Limit); err == nil || !strings.Contains(err.Error(), ownKubeconfig(dir)) {
				t.Errorf("asked with %v", err)
			}
			if _, err := os.Stat(ran); err == nil || asked.Load() {
				t.Error("the program was run, or the server asked")
			}
		})
	}
}

func TestADataDirectoryThatOthersMayWriteToIsNotUsed(t *testing.T) {
	dir := serve(t, func(http.ResponseWriter, *http.Request) {})
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, start := range []Start{nil, startIdle} {
		if _, err := Connect(t.Context(), Options{DataDir: dir}, start); err == nil || !strings.Contains(err.Error(), "chmod o-w "+dir) {
			t.Errorf("connected with %v", err)
		}
	}
}

func TestConnectWaitsForAServerThatIsThere(t *testing.T) {
	for sentence, tc := range map[string]struct {
		starts bool
	}{
		"where it could start one itself": {true},
		"where it cannot":                 {false},
	} {
		t.Run(sentence, func(t *testing.T) {
			var asked atomic.Int32
			dir := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if asked.Add(1) < 3 {
					http.Error(w, "starting", http.StatusInternalServerError)
				}
			})
			start := func(context.Context) (Server, error) { return nil, &store.LockedError{Dir: dir, PID: 1} }
			if !tc.starts {
				start = nil
			}
			got, err := Connect(t.Context(), Options{DataDir: dir, StartTimeout: await.Limit}, start)
			if err != nil || got.Kind != Local {
				t.Fatalf("found %+v, %v", got, err)
			}
		})
	}
}

// silent starts a server that does not answer the first requests.
func silent(t *testing.T, requests int32) (dataDir string) {
	var asked atomic.Int32
	return serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) <= requests {
			<-r.Context().Done()
		}
	})
}

func TestWhetherAnotherServerRunsIsNotForItsSpeedToSay(t *testing.T) {
	dir := silent(t, 1)
	held := func(context.Context) (Server, error) { return nil, &store.LockedError{Dir: dir, PID: 1} }
	got, err := Connect(t.Context(), Options{DataDir: dir, StartTimeout: await.Limit}, held)
	if err != nil || got.Kind != Local {
		t.Errorf("a server that is slow: found %+v, %v", got, err)
	}
	got, err = Connect(t.Context(), Options{DataDir: silent(t, math.MaxInt32), StartTimeout: await.Limit}, startIdle)
	if err != nil || got.Kind != Embedded {
		t.Fatalf("another program where the last server was: found %+v, %v", got, err)
	}
	if err := got.Close(); err != nil {
		t.Error(err)
	}
}

func TestConnectSaysWhatItHasWaitedFor(t *testing.T) {
	dir := silent(t, math.MaxInt32)
	held := func(context.Context) (Server, error) { return nil, &store.LockedError{Dir: dir, PID: 17} }
	var locked *store.LockedError
	_, err := Connect(t.Context(), Options{DataDir: dir, StartTimeout: time.Millisecond}, held)
	if !errors.As(err, &locked) || !strings.Contains(err.Error(), "process 17") || !strings.Contains(err.Error(), "waited for 1ms: allow more with --start-timeout") {
		t.Errorf("the data directory is held: %v", err)
	}
	_, err = Connect(t.Context(), Options{DataDir: dir, StartTimeout: time.Millisecond}, nil)
	if !errors.Is(err, ErrNoServer) || !strings.Contains(err.Error(), "that is ready") || !strings.Contains(err.Error(), "--start-timeout") {
		t.Errorf("a server that hangs: %v", err)
	}
}

func TestAStartIsGivenUpWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	starts := func(life context.Context) (Server, error) {
		cancel()
		<-life.Done()
		return nil, context.Cause(life)
	}
	if _, err := Connect(ctx, Options{DataDir: t.TempDir()}, starts); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
