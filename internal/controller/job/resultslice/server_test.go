package resultslice

import (
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestAServerThatTakesNoResultsIsAskedNowAndThen(t *testing.T) {
	said := 0
	log := funcr.New(func(string, string) { said++ }, funcr.Options{})
	ctx := klog.NewContext(t.Context(), log)
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	lost := prometheus.NewCounter(prometheus.CounterOpts{Name: "lost"})
	s := newServer(clock, lost)
	resource := schema.GroupResource{Resource: "resultslices"}
	notAllowed, notKnown := apierrors.NewForbidden(resource, "", nil), apierrors.NewNotFound(resource, "")
	busy := apierrors.NewServerTimeout(resource, "create", 0)
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "b")
	gone.ErrStatus.Details.Kind = "namespaces"
	for _, step := range []struct {
		sentence, namespace string
		after               time.Duration
		answer              error
		asked               bool
		err                 error
		lost, said          int
	}{
		{sentence: "a server that is busy may take them next time", namespace: "a", answer: busy, asked: true, err: busy},
		{sentence: "a namespace that ends refuses nothing", namespace: "b", answer: gone, asked: true},
		{sentence: "that one namespace is not allowed is told", namespace: "a", answer: notAllowed, asked: true, lost: 2, said: 1},
		{sentence: "it is not asked again at once", namespace: "a", lost: 4, said: 1},
		{sentence: "others are", namespace: "b", asked: true, lost: 4, said: 1},
		{sentence: "it is asked later, and told of no more", namespace: "a", after: resultsRetryDelay, answer: notAllowed, asked: true, lost: 6, said: 1},
		{sentence: "that it takes them again is told", namespace: "a", after: resultsRetryDelay, asked: true, lost: 6, said: 2},
		{sentence: "a kind that is not known is told", namespace: "a", answer: notKnown, asked: true, lost: 8, said: 3},
		{sentence: "it is known nowhere", namespace: "b", lost: 10, said: 3},
		{sentence: "until it is", namespace: "b", after: resultsRetryDelay, asked: true, lost: 10, said: 4},
		{sentence: "everywhere", namespace: "a", asked: true, lost: 10, said: 4},
	} {
		clock.SetTime(clock.Now().Add(step.after))
		asked := false
		err := s.try(ctx, step.namespace, 2, func() error { asked = true; return step.answer })
		if asked != step.asked || !errors.Is(err, step.err) || (err == nil) != (step.err == nil) {
			t.Errorf("%s: asked %v, error %v", step.sentence, asked, err)
		}
		if n := int(testutil.ToFloat64(lost)); n != step.lost || said != step.said {
			t.Errorf("%s: %d lost, want %d; %d lines of log, want %d", step.sentence, n, step.lost, said, step.said)
		}
	}
}
