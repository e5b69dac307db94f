package kube

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// ofPackage is the cluster that the tests of a package share.
var ofPackage struct {
	start   sync.Once
	options Options
	cluster *Cluster
	err     error
}

// Main is for TestMain: it runs a package's tests, and then stops the cluster that they shared, if a test used it. The
// options are those of that cluster.
func Main(m *testing.M, o Options) {
	ofPackage.options = o
	os.Exit(run(m))
}

func run(m *testing.M) (status int) {
	dir, err := os.MkdirTemp("", "kube-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ofPackage.options.Dir = dir
	defer func() {
		if ofPackage.cluster != nil {
			ofPackage.cluster.Stop()
		}
	}()
	return m.Run()
}

// Shared is the cluster of the package, whose TestMain calls Main. The first test that asks for it starts it. A test works
// in a Namespace of its own and ends the controllers that it starts, which see all namespaces.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	skipWithoutPrograms(t)
	if ofPackage.options.Dir == "" {
		t.Fatal("the package has no TestMain that calls kube.Main")
	}
	ofPackage.start.Do(func() {
		// The cluster outlives the test.
		ofPackage.cluster, ofPackage.err = Start(context.Background(), ofPackage.options)
	})
	if ofPackage.err != nil {
		t.Fatal(ofPackage.err)
	}
	return ofPackage.cluster
}

// Namespace creates a namespace for a test and returns its name.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	made, err := kubernetes.NewForConfigOrDie(c.Config()).CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Name
}
