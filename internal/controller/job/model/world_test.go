package model_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry"
	jobregistry "github.com/stint-dev/stint/internal/apiserver/registry/job"
	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/simulated"
)

const (
	namespace = "ns"
	// grace is the pods' grace period in seconds.
	grace = 30
)

// world is a server with Jobs, their pods and results, the processes that use it, and the ledger of what happened.
type world struct {
	*simulated.World
	jobs   *simulated.Table[*batchv1.Job]
	pods   *simulated.Table[*corev1.Pod]
	slices *simulated.Table[*stintv1.ResultSlice]
	// terminatedLimit is how many terminated pods a controller leaves of a Job; 0 is no limit.
	terminatedLimit int
	// started are all processes that have been started, in order.
	started []*process
	ledger  *ledger
}

func newWorld(sw *simulated.World) *world {
	o := podregistry.Options{}
	w := &world{World: sw,
		jobs:   simulated.NewTable[*batchv1.Job](sw.Server, jobregistry.Resource(o)),
		pods:   simulated.NewTable[*corev1.Pod](sw.Server, podregistry.Resource(o)),
		slices: simulated.NewTable[*stintv1.ResultSlice](sw.Server, registry.ResultSlice()),
	}
	w.slices.Unlimited = true
	w.ledger = newLedger(w)
	w.jobs.Wrote, w.pods.Wrote = w.ledger.wroteJob, w.ledger.wrotePod
	w.Carrying, w.Answered, w.Paused = w.ledger.carrying, w.answered, w.observeIdle
	w.Describe = w.describe
	return w
}

// play plays one history in a world of its own and returns how it failed, or nil.
func play(t *testing.T, happens func(*world)) (why any) {
	return simulated.Run(t, func(sw *simulated.World) { happens(newWorld(sw)) })
}

func (w *world) describe() string {
	var b strings.Builder
	for _, j := range w.jobs.All() {
		fmt.Fprintf(&b, "job %s %s: %s\n", j.Name, j.UID, describeStatus(j))
	}
	for _, p := range w.pods.All() {
		fmt.Fprintf(&b, "%s\n", describePod(p))
	}
	return b.String()
}

// job and pod return the object of that name, or nil.
func (w *world) job(name string) *batchv1.Job { return w.jobs.Find(namespace, name) }

func (w *world) pod(name string) *corev1.Pod { return w.pods.Find(namespace, name) }

func (w *world) podNames() (names []string) {
	for _, p := range w.pods.All() {
		names = append(names, p.Name)
	}
	return names
}

// updateJob changes the spec as a user does.
func (w *world) updateJob(name string, edit func(*batchv1.Job)) error {
	_, err := w.jobs.Update(namespace, name, edit)
	return err
}

// process returns the n-th running process.
func (w *world) process(n int) *process { return w.of(w.Processes[n]) }

func (w *world) of(p *simulated.Process) *process {
	if p == nil {
		return nil
	}
	return w.started[p.Number-1]
}

// observeIdle tells the knowledge of each process without a request that its work is done.
func (w *world) observeIdle() {
	for _, p := range w.Processes {
		if !slices.ContainsFunc(w.Waiting(), func(r *simulated.Request) bool { return r.By == p }) {
			w.of(p).knowledge.settle()
		}
	}
}

func (w *world) start(lateJobs, latePods int) {
	w.Logf("the lists of the next controller are late by %d and %d changes", lateJobs, latePods)
	w.Start(func(sp *simulated.Process) func(context.Context) error {
		p := newProcess(sp)
		w.started = append(w.started, p)
		return p.begin(w, lateJobs, latePods)
	})
}

// answered records what a process learns from an answer, such as the pod that it created and the status that it stored.
func (w *world) answered(r *simulated.Request, object client.Object, err error) {
	p := w.of(r.By)
	if r.What() == "update status of job" && apierrors.IsInvalid(err) {
		// The API would refuse it on every retry, so no pod would be counted.
		w.Fail("controller %d stores a status that the API refuses: %v", p.Number, err)
	}
	if err != nil {
		return
	}
	switch r.What() {
	case "create pod":
		p.deeds.created++
		p.knowledge.created(object.(*corev1.Pod))
	case "get job":
		p.liveJobs[r.Name] = object.(*batchv1.Job)
	case "list pod":
		// A controller may discard or delete a pod that its informer does not show yet.
		for _, o := range r.Found {
			p.knowledge.observePod(o.(*corev1.Pod))
		}
	case "get pod":
		p.livePods[r.Name] = object.GetResourceVersion()
	case "modify pod":
		pod := object.(*corev1.Pod)
		w.ledger.fates[pod.UID].removalKnown = !hasFinalizer(pod)
	case "update status of job":
		j := object.(*batchv1.Job)
		p.knowledge.observeJob(j)
		p.deeds.stored(w.ledger.accounts[j.UID].before(j), j)
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
