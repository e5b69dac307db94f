package scenario_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// scene is one scenario in one column, in a namespace of its own.
type scene struct {
	*testing.T
	column    *column
	api       kubernetes.Interface
	namespace string
	history   *history
	markers   int
	stopped   bool
	// losesEvents is set where the controller is killed with events that it has not written yet.
	losesEvents bool
}

// scenes counts the scenes, which numbers their namespaces.
var scenes atomic.Int64

func newScene(t *testing.T, c *column) *scene {
	namespace := fmt.Sprintf("scene-%d", scenes.Add(1)) // all columns of a cluster share its API server
	s := &scene{T: t, column: c, api: c.api, namespace: namespace, history: c.chronicle.of(namespace)}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := s.api.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// run plays the scenario and then deletes everything. Whatever happened, no finalizer may be left on a pod.
func (s *scene) run(play func(*scene)) {
	defer func() {
		if s.Failed() {
			s.Log(s.story())
		}
	}()
	defer s.judge()
	defer s.cleanUp()
	play(s)
}

// eventually waits until done returns "". Until then, done returns what the test waits for.
func (s *scene) eventually(done func(*history) string) {
	s.Helper()
	if missing := s.history.until(done); missing != "" {
		s.Fatalf("waited in vain for %s", missing)
	}
}

// must ends the scenario on an error.
func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// sees waits until the history has come as far as a write of the scenario's own.
func (s *scene) sees(o metav1.Object) {
	s.Helper()
	s.eventually(func(h *history) string { return h.shows(o) })
}

// catchUp waits until the history has the pods as they are now: the watch of one kind may lag behind that of another,
// and show pods that were gone when a Job's status said so.
func (s *scene) catchUp() {
	s.Helper()
	list, err := s.api.CoreV1().Pods(s.namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		return // The server is stopped, and so are all watches.
	}
	there := map[types.UID]bool{}
	for i := range list.Items {
		there[list.Items[i].UID] = true
		s.sees(&list.Items[i])
	}
	s.eventually(func(h *history) string {
		gone := h.pods(func(p *corev1.Pod) bool {
			return !there[p.UID] && version(p) <= version(&metav1.ObjectMeta{ResourceVersion: list.ResourceVersion})
		})
		if len(gone) > 0 {
			return "the watch to show that pods are gone; there are" + describe(gone)
		}
		return ""
	})
}

// create creates the Job and returns a handle on it.
func (s *scene) create(job *batchv1.Job) *job {
	s.Helper()
	created, err := s.api.BatchV1().Jobs(s.namespace).Create(s.Context(), job, metav1.CreateOptions{})
	s.must(err)
	s.sees(created)
	return s.handle(created)
}

const markerPrefix = "marker-"

// settle returns when the controller has provably synced all that was written until now: it has since brought another
// Job to its end, whose changes came later and take at least as many syncs.
func (s *scene) settle() {
	s.Helper()
	s.markers++
	marker := s.create(aJob(named(fmt.Sprint(markerPrefix, s.markers))))
	marker.active(1).succeed()
	marker.becomes(complete())
}

func (s *scene) stopController() {
	s.stopped = true
	s.column.stopController(s)
}

func (s *scene) startController() {
	s.column.startController(s)
	s.stopped = false
}

func (s *scene) restartController() {
	s.stopController()
	s.startController()
}

// story returns what happened, a line for each write, for the message of a failed test.
func (s *scene) story() string {
	var story strings.Builder
	for _, c := range s.history.ordered() {
		fmt.Fprintf(&story, "%d %s\n", c.version(), c)
	}
	return story.String()
}

func (c change) String() string {
	verb := ""
	if c.deleted {
		verb = "GONE "
	}
	switch o := c.object.(type) {
	case *batchv1.Job:
		return fmt.Sprintf("%sjob %s %s", verb, o.Name, describeStatus(o))
	case *batchv1.CronJob:
		return fmt.Sprintf("%scronjob %s %s", verb, o.Name, describeCron(o))
	case *stintv1.ScheduledJob:
		return fmt.Sprintf("%sscheduledjob %s %s", verb, o.Name, scheduledInWords(o))
	case *corev1.Pod:
		return fmt.Sprintf("%spod%s", verb, describe([]*corev1.Pod{o}))
	case *corev1.Event:
		return fmt.Sprintf("event %s/%s %s: %s", o.InvolvedObject.Kind, o.InvolvedObject.Name, o.Reason, o.Message)
	}
	return verb + c.object.GetName()
}

func describe(pods []*corev1.Pod) string {
	var text strings.Builder
	for _, p := range pods {
		fmt.Fprintf(&text, " [%s %s", p.Name, p.Status.Phase)
		if p.DeletionTimestamp != nil {
			text.WriteString(" terminating")
		}
		if hasFinalizer(p) {
			text.WriteString(" tracked")
		}
		text.WriteString("]")
	}
	return text.String()
}

func describeStatus(j *batchv1.Job) string {
	st := j.Status
	text := fmt.Sprintf("active=%d ready=%d terminating=%d succeeded=%d failed=%d", st.Active, ptr.Deref(st.Ready, -1),
		ptr.Deref(st.Terminating, -1), st.Succeeded, st.Failed)
	if st.CompletedIndexes != "" || st.FailedIndexes != nil {
		text += fmt.Sprintf(" completedIndexes=%q failedIndexes=%q", st.CompletedIndexes, ptr.Deref(st.FailedIndexes, ""))
	}
	if u := st.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
		text += fmt.Sprintf(" uncounted=%d+%d", len(u.Succeeded), len(u.Failed))
	}
	for _, c := range st.Conditions {
		text += fmt.Sprintf(" %s=%s(%s)", c.Type, c.Status, c.Reason)
	}
	if j.DeletionTimestamp != nil {
		text += " deleted"
	}
	return text
}
