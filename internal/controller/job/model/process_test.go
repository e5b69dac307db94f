package model_test

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/simulated"
)

const (
	// listLimit bounds uncountedTerminatedPods; it is so low that histories reach it.
	listLimit = 3
	// perSync bounds how many pods one sync creates or deletes.
	perSync = 4
)

// process is one run of the real controller, and what it knows and did.
type process struct {
	*simulated.Process
	jobs      *simulated.Informer[*batchv1.Job]
	pods      *simulated.Informer[*corev1.Pod]
	metrics   *prometheus.Registry
	knowledge *knowledge
	deeds     deeds
	// liveJobs are the Jobs that it last read live, by name.
	liveJobs map[string]*batchv1.Job
	// livePods are the resource versions of the pods that it last read live, by name.
	livePods map[string]string
}

func newProcess(p *simulated.Process) *process {
	return &process{Process: p, metrics: prometheus.NewRegistry(), knowledge: newKnowledge(),
		liveJobs: map[string]*batchv1.Job{}, livePods: map[string]string{}}
}

// connection is what one process uses.
type connection struct {
	jobs   client.Resource[*batchv1.Job]
	pods   client.Resource[*corev1.Pod]
	slices client.Resource[*stintv1.ResultSlice]
}

func (c connection) Jobs() client.Resource[*batchv1.Job]                 { return c.jobs }
func (c connection) Pods() client.Resource[*corev1.Pod]                  { return c.pods }
func (c connection) ResultSlices() client.Resource[*stintv1.ResultSlice] { return c.slices }

// begin returns a function that runs a controller whose first lists lack the newest changes. The list of Jobs is not older
// than that of pods: a controller cannot be blamed for syncing a Job that it does not know to be finished.
func (p *process) begin(w *world, lateJobs, latePods int) func(context.Context) error {
	c := connection{simulated.Of(p.Process, w.jobs), simulated.Of(p.Process, w.pods), simulated.Of(p.Process, w.slices)}
	p.jobs, p.pods = simulated.InformerOf(c.jobs), simulated.InformerOf(c.pods)
	p.knowledge.cache = p.pods.GetStore()
	run := job.New(c, p, job.Options{
		ManagedBy: []string{batchv1.JobControllerName}, Registerer: p.metrics, MaxUncountedPods: listLimit, MaxPodCreateDeletePerSync: perSync,
		TerminatedPodsLimit: w.terminatedLimit,
	}).Run
	listen(p.jobs, p.knowledge.observeJob, p.knowledge.observeDeletion)
	listen(p.pods, p.knowledge.observeCachedPod, p.knowledge.observeDeletion)
	p.pods.List(latePods)
	if p.Number%2 == 0 {
		p.pods.Notify(p.pods.Undelivered()) // The list of either kind may arrive first.
	}
	p.jobs.List(min(lateJobs, w.jobs.Since(p.pods.CachedVersion())))
	p.jobs.Notify(p.jobs.Undelivered())
	p.pods.Notify(p.pods.Undelivered())
	p.knowledge.settle()
	return run
}

// listen calls observe for each object that an event handler gets, and observeDeletion for each whose deletion it gets.
func listen[T client.Object](i *simulated.Informer[T], observe func(T), observeDeletion func(types.UID)) {
	_, _ = i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { observe(o.(T)) },
		UpdateFunc: func(_, o any) { observe(o.(T)) },
		DeleteFunc: func(o any) {
			if unseen, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = unseen.Obj
			}
			observeDeletion(o.(T).GetUID())
		},
	})
}

// knowledge is what a process must base its decisions on: what its event handlers and the answers to its writes and lists had
// shown before its present work began. Newer versions it may use or not.
type knowledge struct {
	job  *batchv1.Job
	pods map[types.UID]*corev1.Pod
	// newer are versions that are newer than the present work.
	newer []client.Object
	// cache is the informer's store, which may be ahead of the event handlers. The process may read it.
	cache cache.Store
	// round counts the times that the process was idle, from 1.
	round int
	// sawEnd and made are the rounds in which its event handlers showed that a pod had terminated, and in which it created one.
	sawEnd, made map[types.UID]int
	// early pods were shown before their Job: the process may have dropped what it knew of them.
	early map[types.UID]bool
	// gone are objects that the process knows to be removed; lost are those that were removed since the present work began.
	gone    map[types.UID]bool
	deleted []types.UID
}

func newKnowledge() *knowledge {
	return &knowledge{round: 1, pods: map[types.UID]*corev1.Pod{}, sawEnd: map[types.UID]int{}, made: map[types.UID]int{}, early: map[types.UID]bool{}, gone: map[types.UID]bool{}}
}

func (k *knowledge) observeJob(j *batchv1.Job) { k.newer = append(k.newer, j) }

func (k *knowledge) observeCachedPod(p *corev1.Pod) {
	if ended(p) && k.sawEnd[p.UID] == 0 {
		k.sawEnd[p.UID] = k.round
	}
	k.observePod(p)
}

func (k *knowledge) observePod(p *corev1.Pod) {
	k.newer = append(k.newer, p)
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil && !k.knowsJob(ref.UID) {
		k.early[p.UID] = true
	}
}

func (k *knowledge) observeDeletion(uid types.UID) { k.deleted = append(k.deleted, uid) }

func (k *knowledge) knowsJob(uid types.UID) bool {
	return (k.job != nil && k.job.UID == uid) || slices.ContainsFunc(k.newer, func(o client.Object) bool { return o.GetUID() == uid })
}

// settle is called when the process is idle: from then on it must use the versions that it has got.
func (k *knowledge) settle() {
	k.round++
	for _, o := range k.newer {
		switch o := o.(type) {
		case *batchv1.Job:
			if k.job == nil || simulated.VersionOf(k.job) < simulated.VersionOf(o) {
				k.job = o
			}
		case *corev1.Pod:
			old := k.pods[o.UID]
			if old == nil || simulated.VersionOf(old) < simulated.VersionOf(o) {
				k.pods[o.UID] = o
			}
		}
	}
	k.newer = k.newer[:0]
	for _, uid := range k.deleted {
		k.gone[uid] = true
	}
	k.deleted = k.deleted[:0]
}

// created adds a pod that the process has created. A process that creates several pods must count those it has created.
func (k *knowledge) created(p *corev1.Pod) { k.pods[p.UID], k.made[p.UID] = p, k.round }

// versions returns the versions of a pod that a decision of the process may be based on, oldest first.
func (k *knowledge) versions(uid types.UID) (list []*corev1.Pod) {
	if p := k.pods[uid]; p != nil {
		list = append(list, p)
	}
	for _, o := range k.newer {
		if p, ok := o.(*corev1.Pod); ok && p.UID == uid {
			list = append(list, p)
		}
	}
	for _, o := range k.cache.List() {
		if p := o.(*corev1.Pod); p.UID == uid {
			list = append(list, p)
		}
	}
	return list
}

// mayExist reports whether the process may still take the pod for an existing one.
func (k *knowledge) mayExist(uid types.UID) bool { return k.oldest(uid) != nil && !k.gone[uid] }

func (k *knowledge) oldest(uid types.UID) *corev1.Pod {
	if all := k.versions(uid); len(all) > 0 {
		return all[0]
	}
	return nil
}
