package apiserver_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestNothingGoesOnAfterTheStop(t *testing.T) {
	before := goleak.IgnoreCurrent()
	r := start(t)
	r.Client().Pods().Informer()
	if err := r.StartInformers(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.clientset(t).Discovery().ServerVersion(); err != nil {
		t.Fatal(err)
	}
	r.stop()
	nothingGoesOn(t, before)
}

// nothingGoesOn waits longer than goleak does: some goroutines of the library look only once a second whether to end.
func nothingGoesOn(t *testing.T, o ...goleak.Option) {
	t.Helper()
	var err error
	for range 20 {
		if err = goleak.Find(o...); err == nil {
			return
		}
	}
	t.Error(err)
}

func TestAWatchInMemoryEndsWhenItsReaderStops(t *testing.T) {
	r := start(t)
	c := kubernetes.NewForConfigOrDie(r.RESTConfig())
	before := goleak.IgnoreCurrent()
	w, err := c.CoreV1().Pods("").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	// The cache's own timer ends by itself, seconds after whom it was for.
	timer := goleak.IgnoreAnyFunction("k8s.io/apiserver/pkg/storage/cacher.(*watchCache).waitUntilFreshLocked.func2")
	nothingGoesOn(t, before, timer)
}
