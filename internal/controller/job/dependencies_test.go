package job_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

func dependent(name, on string, changes ...func(*batchv1.JobSpec)) *batchv1.Job {
	j := newJob(name, changes...)
	j.Annotations = map[string]string{core.DependsOn: on}
	return j
}

// byJob decides by the Job what its pods do; those of a Job without an entry succeed.
func byJob(fates map[string]fate) script {
	return func(p *corev1.Pod) fate { return fates[p.Labels[batchv1.JobNameLabel]] }
}

func (e *env) podsOf(name string) (n int) {
	pods := e.podList()
	for i := range pods {
		if pods[i].Labels[batchv1.JobNameLabel] == name {
			n++
		}
	}
	return n
}

// untilWaiting waits for conditions NAME=STATUS(REASON) of a Job that has no start and no pod.
func (e *env) untilWaiting(name string, want ...string) {
	e.t.Helper()
	j := e.until(name, "to wait for "+strings.Join(want, ", "), func(j *batchv1.Job) bool { return slices.Equal(conditionsOf(j), want) })
	if n := e.podsOf(name); n > 0 || j.Status.StartTime != nil {
		e.t.Fatalf("%s waits with %d pods and the start %v", name, n, j.Status.StartTime)
	}
}

func conditionsOf(j *batchv1.Job) []string {
	var list []string
	for _, c := range j.Status.Conditions {
		list = append(list, fmt.Sprintf("%s=%s(%s)", strings.TrimPrefix(string(c.Type), core.DependsOnCondition), c.Status, c.Reason))
	}
	return list
}

func (e *env) restart() {
	e.stopController()
	e.startController()
}

func TestAJobWaitsThroughAllThatBecomesOfTheOthers(t *testing.T) {
	var over atomic.Bool
	e := start(t, job.Options{}, func(p *corev1.Pod) fate {
		if p.Labels[batchv1.JobNameLabel] == "extract" && !over.Load() {
			return pend
		}
		return succeed
	})
	e.create(dependent("load", "extract, clean=Finished"))
	e.untilWaiting("load", "extract=False(NotFound)", "clean=False(NotFound)")
	e.restart()
	e.create(newJob("clean"))
	e.untilFinished("clean")
	e.untilWaiting("load", "extract=False(NotFound)", "clean=True(Complete)")
	e.restart()
	extract := e.create(newJob("extract", func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) }))
	e.untilWaiting("load", "extract=False(Suspended)", "clean=True(Complete)")
	e.delete(extract)
	e.untilWaiting("load", "extract=False(NotFound)", "clean=True(Complete)")
	e.delete(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace(), Name: "clean"}})
	e.restart()
	e.create(newJob("extract"))
	e.untilWaiting("load", "extract=False(Running)", "clean=True(Complete)")
	e.restart()
	over.Store(true)
	err := e.api.CoreV1().Pods(e.namespace()).DeleteCollection(t.Context(), metav1.DeleteOptions{},
		metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=extract"})
	if err != nil {
		t.Fatal(err)
	}
	j := e.untilFinished("load")
	if !has(j, batchv1.JobComplete) || e.podsOf("load") != 1 {
		t.Errorf("ends with %v and %d pods", conditionsOf(j), e.podsOf("load"))
	}
}

func (e *env) delete(j *batchv1.Job) {
	e.t.Helper()
	if err := e.api.BatchV1().Jobs(j.Namespace).Delete(context.Background(), j.Name, metav1.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
		e.t.Fatal(err)
	}
}

func dependenciesEnd(t *testing.T, e *env) {
	t.Helper()
	e.create(newJob("bad", func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](0) }))
	e.create(newJob("good"))
	e.create(dependent("first", "bad"))
	e.create(dependent("second", "good,first"))
	e.create(dependent("either", "first=Finished, second=Failed, good", func(s *batchv1.JobSpec) { s.Completions = ptr.To[int32](0) }))
	for name, want := range map[string]string{
		"first":  "Job bad has failed: BackoffLimitExceeded",
		"second": "Job first has failed: DependencyFailed",
	} {
		j := e.untilFinished(name)
		end := core.End(j)
		if end.Reason != core.DependencyFailed || end.Message != want || e.podsOf(name) > 0 {
			t.Errorf("%s ends with %+v and %d pods", name, end, e.podsOf(name))
		}
	}
	if j := e.untilFinished("either"); !has(j, batchv1.JobComplete) || len(core.UnmetConditions(j)) > 0 {
		t.Errorf("either ends with %v", conditionsOf(j))
	}
}

func TestAJobFailsWhenWhatItWaitsForCannotComeAnyMore(t *testing.T) {
	dependenciesEnd(t, start(t, job.Options{}, byJob(map[string]fate{"bad": fail})))
}

func TestJobsOfACycleFailAndNameIt(t *testing.T) {
	e := start(t, job.Options{}, always(succeed))
	e.stopController()
	closeCycle(t, e)
	e.startController()
	cycleEnds(t, e)
}

// Another controller need not know the annotation, so its Jobs wait for none and are in no cycle.
func TestAJobOfAnotherControllerIsInNoCycle(t *testing.T) {
	e := start(t, job.Options{}, always(succeed))
	e.stopController()
	theirs := dependent("theirs", "ours")
	theirs.Spec.ManagedBy = ptr.To("example.com/other")
	e.create(theirs)
	e.create(newJob("ours", func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) }))
	e.update("ours", dependsOn("theirs"))
	e.startController()
	j := e.until("ours", "known to wait or to fail", func(j *batchv1.Job) bool { return len(j.Status.Conditions) > 0 })
	if got := conditionsOf(j); len(got) != 1 || got[0] != "theirs=False(Running)" {
		t.Errorf("conditions %v", got)
	}
}

// closeCycle makes three Jobs that wait for each other. The server refuses that to everybody but its own controllers.
func closeCycle(t *testing.T, e *env) {
	t.Helper()
	e.create(dependent("a", "b=Finished"))
	e.create(dependent("b", "c=Finished"))
	e.update("b", func(j *batchv1.Job) { j.Annotations, j.Spec.Suspend = nil, ptr.To(true) })
	e.create(dependent("c", "a=Finished"))
	e.update("b", dependsOn("c=Finished"))
}

// dependsOn makes a suspended Job wait for others and resumes it, in one write. A controller whose informer shows the
// Job as it was does not start it.
func dependsOn(others string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Annotations, j.Spec.Suspend = dependent("", others).Annotations, nil }
}

func cycleEnds(t *testing.T, e *env) {
	t.Helper()
	for name, want := range map[string]string{"a": "a → b → c → a", "b": "b → c → a → b", "c": "c → a → b → c"} {
		end := core.End(e.untilFinished(name))
		if end.Reason != core.DependencyFailed || end.Message != "Jobs wait for each other: "+want || e.podsOf(name) > 0 {
			t.Errorf("%s ends with %+v and %d pods", name, end, e.podsOf(name))
		}
	}
}

// TestACycleIsOverWhenAJobOfItIsMadeAnew: the Jobs that failed for the cycle had waited for the deleted Job, and not
// for the new one of its name.
func TestACycleIsOverWhenAJobOfItIsMadeAnew(t *testing.T) {
	e := start(t, job.Options{}, always(succeed))
	e.stopController()
	closeCycle(t, e)
	e.startController()
	cycleEnds(t, e)
	b := e.untilFinished("b")
	e.delete(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace(), Name: "c"}})
	// Times in the API have whole seconds, and the order of two changes in one second is not known.
	await.Until(e.t, "the next second", func() bool { return time.Now().Unix() > core.End(b).LastTransitionTime.Unix() })
	e.create(dependent("c", "a=Finished"))
	if j := e.untilFinished("c"); !has(j, batchv1.JobComplete) {
		t.Errorf("c ends with %+v", core.End(j))
	}
}

func dependenciesOnKubernetes(t *testing.T, c *kube.Cluster) {
	e := onCluster(t, c, byJob(map[string]fate{"bad": fail}))
	defer e.lead(c, false)()
	dependenciesEnd(t, e)
	e.create(dependent("a", "b=Finished"))
	e.create(dependent("b", "c=Finished"))
	e.create(dependent("c", "a=Finished"))
	cycleEnds(t, e)
}

// vanishing is a client that deletes every Job right before a live read of it.
type vanishing struct {
	connection
	delete func(name string)
}

func (v vanishing) Jobs() client.Resource[*batchv1.Job] {
	return vanishingJobs{v.connection.Jobs(), v.delete}
}

type vanishingJobs struct {
	client.Resource[*batchv1.Job]
	delete func(name string)
}

func (v vanishingJobs) Get(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	v.delete(name)
	return v.Resource.Get(ctx, namespace, name)
}

func TestAJobThatIsDeletedAsSoonAsItHasEndedCountsForAllThatWaited(t *testing.T) {
	e := start(t, job.Options{}, always(succeed))
	e.stopController()
	gone := func(name string) {
		err := e.api.BatchV1().Jobs(e.namespace()).Delete(context.Background(), name, metav1.DeleteOptions{
			PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
	e.stopController = e.server.Control(job.New(vanishing{e.client, gone}, e.recorder, e.options))
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("load-%d", i))
		e.create(dependent(names[i], "extract"))
		e.untilWaiting(names[i], "extract=False(NotFound)")
	}
	extract := e.create(newJob("extract"))
	await.Until(e.t, "extract to be gone or to have ended", func() bool {
		j, err := e.api.BatchV1().Jobs(e.namespace()).Get(e.t.Context(), extract.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && core.Finished(j)
	}, func() string { return "it runs" })
	gone(extract.Name)
	for _, name := range names {
		e.untilFinished(name)
	}
}

// gets counts the live reads of Jobs.
type gets struct {
	connection
	n atomic.Int64
}

func (g *gets) Jobs() client.Resource[*batchv1.Job] { return countedGets{g.connection.Jobs(), &g.n} }

type countedGets struct {
	client.Resource[*batchv1.Job]
	n *atomic.Int64
}

func (g countedGets) Get(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	g.n.Add(1)
	return g.Resource.Get(ctx, namespace, name)
}

func TestDependenciesCostNoMoreThanOneRequestEach(t *testing.T) {
	const links, fan = 60, 60
	e := start(t, job.Options{}, always(succeed))
	e.stopController()
	g := &gets{connection: e.client}
	for i := range links {
		on := ""
		if i > 0 {
			on = fmt.Sprintf("link-%d", i-1)
		}
		name := fmt.Sprintf("link-%d", i)
		if j := dependent(name, on); i > 0 {
			e.create(j)
		} else {
			e.create(newJob(name))
		}
	}
	for i := range fan {
		e.create(dependent(fmt.Sprintf("fan-%d", i), "link-0"))
	}
	e.stopController = e.server.Control(job.New(g, e.recorder, e.options))
	e.untilFinished(fmt.Sprintf("link-%d", links-1))
	for i := range fan {
		e.untilFinished(fmt.Sprintf("fan-%d", i))
	}
	if n, edges := g.n.Load(), int64(links-1+fan); n > edges {
		t.Errorf("%d dependencies cost %d requests", edges, n)
	}
	before := g.n.Load()
	e.create(newJob("alone"))
	e.untilFinished("alone")
	if n := g.n.Load() - before; n > 0 {
		t.Errorf("a Job without dependencies costs %d requests for Jobs", n)
	}
}
