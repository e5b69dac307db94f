package apiservertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/inprocess"
)

// shared is the server that the tests of this binary share. The first test that needs it starts it.
var shared struct {
	sync.Mutex
	changes []func(*apiserver.Config)
	// main is true if Main runs the tests, which stops the server.
	main bool
	dir  string
	*running
}

// Main runs the tests of a package, and stops their shared server if one of them has started it. changes are as for
// Start.
func Main(m *testing.M, changes ...func(*apiserver.Config)) {
	shared.main, shared.changes = true, changes
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Shared returns the shared server of this package's tests, with a new namespace and new informers for this test.
func Shared(t testing.TB) *Server {
	t.Helper()
	if !shared.main {
		t.Fatal("nothing would stop the shared server: have TestMain call apiservertest.Main")
	}
	if err := startShared(); err != nil {
		t.Fatal(err)
	}
	shared.waitUntilReady(t)
	s := &Server{Server: shared.Server, Store: shared.store, Dir: shared.dir, t: t}
	ns, err := s.Clientset().CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.Namespace = ns.Name
	s.own = shared.Client().(*inprocess.Client).Within(ns.Name)
	var end context.CancelFunc
	s.ctx, end = context.WithCancel(context.Background())
	t.Cleanup(func() {
		end()
		s.own.Wait()
	})
	return s
}

func startShared() (err error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.running != nil {
		return nil
	}
	if shared.dir, err = os.MkdirTemp("", "apiservertest"); err != nil {
		return err
	}
	c := apiserver.Config{DataDir: shared.dir}
	for _, change := range shared.changes {
		change(&c)
	}
	shared.running, err = run(c)
	return err
}

func stopShared() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.running == nil {
		return nil
	}
	return errors.Join(shared.stop(), os.RemoveAll(shared.dir))
}
