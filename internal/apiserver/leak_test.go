package apiserver_test

import (
	"testing"

	"go.uber.org/goleak"
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
	goleak.VerifyNone(t, before)
}
