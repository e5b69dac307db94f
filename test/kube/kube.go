// Package kube starts a real kube-apiserver with its etcd, and kube-controller-manager where one is wanted, for the tests
// and benchmarks that compare Stint with Kubernetes. test/cluster/build makes the programs; the environment variable
// STINT_CLUSTER names their folder.
//
//	etcd ◀─unix socket─ kube-apiserver ◀─TLS, a free loopback port─ Stint, kube-controller-manager, clients
package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/test/await"
)

// Variable names the folder of the programs.
const Variable = "STINT_CLUSTER"

// The sockets lie in the programs' working directory, since a path must be short; etcd wants them to look like host:port.
const (
	etcdSocket = "unix://etcd.sock:0"
	peerSocket = "unix://peer.sock:0"
)

// Options choose what a cluster is like.
type Options struct {
	// Dir takes data, keys and logs. It is made where absent.
	Dir string
	// Users are the names that UserConfig may be asked for, beside the administrator, with what RBAC gives them.
	Users []string
	// APIServerFlags are added to kube-apiserver's.
	APIServerFlags []string
	// Durable has etcd wait for the disk, as it does in production.
	Durable bool
}

// Cluster is a control plane without nodes, schedulers and controllers.
type Cluster struct {
	programs string
	options  Options
	port     int
	// held are sockets that keep ports reserved.
	held      []int
	etcd      *Process
	apiServer *Process
}

// ForTest starts a cluster that ends with the test, for what a Shared one does not allow: other flags, outages, kinds that
// are not there yet.
func ForTest(t testing.TB, o Options) *Cluster {
	t.Helper()
	skipWithoutPrograms(t)
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

// skipWithoutPrograms skips a test where nothing says where the programs are. Tests that need them are called TestCluster….
func skipWithoutPrograms(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skipf("%s is not set: run make test-cluster", Variable)
	}
}

// Start returns when the API server is ready.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	programs := os.Getenv(Variable)
	if programs == "" {
		return nil, fmt.Errorf("the environment variable %s is not set: it names the folder that test/cluster/build prints", Variable)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	c := &Cluster{programs: programs, options: o}
	err := errors.Join(c.writeKeys(), c.startEtcd())
	if err == nil {
		err = c.StartAPIServer(ctx)
	}
	if err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Stop ends everything.
func (c *Cluster) Stop() {
	c.StopAPIServer()
	c.etcd.Kill()
	c.releasePorts()
}

// Config reaches the cluster as its administrator, without a limit on requests.
func (c *Cluster) Config() *rest.Config { return c.UserConfig(admin) }

// UserConfig reaches the cluster as one of Options.Users.
func (c *Cluster) UserConfig(user string) *rest.Config {
	return &rest.Config{
		Host:            net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)),
		BearerToken:     token(user),
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.path("certs", "apiserver.crt")},
		QPS:             -1,
	}
}

// APIServer is the running kube-apiserver.
func (c *Cluster) APIServer() *Process { return c.apiServer }

// StopAPIServer ends kube-apiserver at once; its data stays, and its port stays reserved.
func (c *Cluster) StopAPIServer() { c.apiServer.Kill() }

// RestartAPIServer drops the pending requests of clients that have died, so that none is carried out any more.
func (c *Cluster) RestartAPIServer(t testing.TB) {
	t.Helper()
	c.StopAPIServer()
	if err := c.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// StartAPIServer starts kube-apiserver, again on the same port, and returns when it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) (err error) {
	if c.port == 0 {
		if c.port, err = c.HoldPort(); err != nil {
			return err
		}
	}
	flags := append([]string{
		"--etcd-servers=" + etcdSocket,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.port), shared,
		"--cert-dir=" + c.path("certs"),
		"--token-auth-file=" + c.path("tokens"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + c.path("key"),
		"--service-account-key-file=" + c.path("key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		// The cluster has no controller that creates the service accounts which this plugin requires of every pod.
		"--disable-admission-plugins=ServiceAccount",
	}, c.options.APIServerFlags...)
	if c.apiServer, err = c.start("kube-apiserver", flags...); err != nil {
		return err
	}
	return c.apiServer.waitFor(ctx, c.ready)
}

// ready reports whether kube-apiserver is ready and has made the namespace default, which its /readyz does not wait for.
func (c *Cluster) ready(ctx context.Context) bool {
	client, err := rest.HTTPClientFor(c.Config())
	if err != nil {
		return false // kube-apiserver has not written its certificate yet
	}
	defer client.CloseIdleConnections()
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+c.Config().Host+path, nil)
		if err != nil {
			return false
		}
		answer, err := client.Do(request)
		if err != nil {
			return false
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}

func (c *Cluster) startEtcd() (err error) {
	c.etcd, err = c.start("etcd",
		"--data-dir="+c.path("etcd"),
		"--listen-client-urls="+etcdSocket,
		"--advertise-client-urls="+etcdSocket,
		"--listen-peer-urls="+peerSocket,
		"--initial-advertise-peer-urls="+peerSocket,
		"--initial-cluster=default="+peerSocket,
		"--unsafe-no-fsync="+strconv.FormatBool(!c.options.Durable),
		"--log-level=warn",
	)
	return err
}

// StartControllerManager starts kube-controller-manager with the given controllers (its flag --controllers). It serves
// nothing unless the flags give it a port, which may be one of HoldPort.
func (c *Cluster) StartControllerManager(controllers string, flags ...string) (*Process, error) {
	kubeconfig, err := c.Kubeconfig("")
	if err != nil {
		return nil, err
	}
	return c.start("kube-controller-manager", append([]string{
		"--kubeconfig=" + kubeconfig,
		"--controllers=" + controllers,
		"--secure-port=0", shared,
		"--leader-elect=false",
	}, flags...)...)
}

func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.options.Dir}, elements...)...)
}

func (p *Process) waitFor(ctx context.Context, ready func(context.Context) bool) error {
	err := await.Poll(ctx, func(ctx context.Context) (bool, error) {
		select {
		case <-p.done:
			return false, errors.New("it has ended")
		default:
			return ready(ctx), nil
		}
	})
	if err != nil {
		return fmt.Errorf("waiting for %s: %w; the end of its log:\n%s", p.name, err, p.Tail())
	}
	return nil
}
