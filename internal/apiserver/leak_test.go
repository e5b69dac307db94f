package apiserver_test

import (
	"bytes"
	"context"
	"runtime"
	"testing"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/test/await"
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

// nothingGoesOn waits until no goroutine is left. It waits longer than goleak does, because some goroutines of the library
// check only once a second whether to end.
func nothingGoesOn(t *testing.T, o ...goleak.Option) {
	t.Helper()
	var err error
	await.Until(t, "all goroutines end", func() bool {
		err = goleak.Find(o...)
		return err == nil
	}, func() string { return err.Error() })
}

func TestAWatchInMemoryEndsWhenItsReaderStops(t *testing.T) {
	r := start(t)
	c := kubernetes.NewForConfigOrDie(r.RESTConfig())
	w, err := c.CoreV1().Pods("").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the watch is served", func() bool { return watchesServed() == 1 })
	w.Stop()
	await.Until(t, "the watch ends", func() bool { return watchesServed() == 0 })
}

// watchesServed counts the goroutines that serve a watch over HTTP.
func watchesServed() int {
	stacks := make([]byte, 4<<20)
	return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("handlers.(*WatchServer).HandleHTTP("))
}
