package job

import (
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/wrappers"
)

func TestAServerThatTakesNoResultsIsAskedNowAndThen(t *testing.T) {
	said := 0
	log := funcr.New(func(string, string) { said++ }, funcr.Options{})
	ctx := klog.NewContext(t.Context(), log)
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	lost := prometheus.NewCounter(prometheus.CounterOpts{Name: "lost"})
	s := newSliceServer(Options{Clock: clock}, lost)
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
		{sentence: "it is asked later, and told of no more", namespace: "a", after: refusedPause, answer: notAllowed, asked: true, lost: 6, said: 1},
		{sentence: "that it takes them again is told", namespace: "a", after: refusedPause, asked: true, lost: 6, said: 2},
		{sentence: "a kind that is not known is told", namespace: "a", answer: notKnown, asked: true, lost: 8, said: 3},
		{sentence: "it is known nowhere", namespace: "b", lost: 10, said: 3},
		{sentence: "until it is", namespace: "b", after: refusedPause, asked: true, lost: 10, said: 4},
		{sentence: "everywhere", namespace: "a", asked: true, lost: 10, said: 4},
	} {
		clock.SetTime(clock.Now().Add(step.after))
		asked := false
		err := s.interpret(ctx, step.namespace, 2, func() error { asked = true; return step.answer })
		if asked != step.asked || !errors.Is(err, step.err) || (err == nil) != (step.err == nil) {
			t.Errorf("%s: asked %v, error %v", step.sentence, asked, err)
		}
		if n := int(testutil.ToFloat64(lost)); n != step.lost || said != step.said {
			t.Errorf("%s: %d lost, want %d; %d lines of log, want %d", step.sentence, n, step.lost, said, step.said)
		}
	}
}

func TestEndsAreNotedOfPodsThatWereCountedBefore(t *testing.T) {
	r := newResultKeeper(nil, Options{MaxResults: ptr.To(10)}, nil)
	podOf := func(name string, phase corev1.PodPhase) *corev1.Pod {
		return wrappers.MakePod(name).UID(types.UID(name)).Controller(wrappers.MakeJob("j").UID("job").Obj()).Phase(phase).Obj()
	}
	k := r.of("job")
	r.await(k, []*corev1.Pod{podOf("runs", corev1.PodRunning), podOf("ended", corev1.PodFailed)})
	for _, p := range []*corev1.Pod{podOf("runs", corev1.PodRunning), podOf("ended", corev1.PodFailed), podOf("other", corev1.PodFailed),
		podOf("runs", corev1.PodFailed), podOf("runs", corev1.PodFailed)} {
		r.noteEnd(p)
	}
	got := sets.New[string]()
	for _, e := range r.takeEnds(k) {
		got.Insert(e.Pod + " " + string(e.Phase))
	}
	if !got.Equal(sets.New("runs Failed")) {
		t.Errorf("noted %v", got.UnsortedList())
	}
	if again := r.takeEnds(k); len(again) > 0 {
		t.Errorf("noted twice: %v", again)
	}
}
