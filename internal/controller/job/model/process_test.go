package model_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
)

const (
	// listLimit bounds uncountedTerminatedPods, so low that histories get there.
	listLimit = 3
	// perSync bounds the pods that one sync creates or removes.
	perSync = 4
)

// process is one run of the real controller, from its start to its end or death.
type process struct {
	number   int
	server   *server
	requests *requests
	jobs     *informer[*batchv1.Job]
	pods     *informer[*corev1.Pod]
	metrics  *prometheus.Registry
	knows    *knowledge

	// dead processes write no more. Leaving ones were told to stop, and end once their requests are answered.
	dead    atomic.Bool
	leaving bool
	cancel  context.CancelFunc
	stopped chan error

	deeds deeds
	// found are the Jobs that it asked for, as they were when it did so last.
	found map[string]*batchv1.Job
	// asked are the versions of the pods that it asked for.
	asked map[string]string

	mu     sync.Mutex
	events []told
}

// told is an event as a process recorded it.
type told struct {
	job             *batchv1.Job
	reason, message string
}

func (e told) String() string { return fmt.Sprintf("%s: %s", e.reason, e.message) }

// startProcess starts a controller on lists that are late by some changes. That of Jobs is not older than that of pods:
// who does not know how a Job ended cannot be blamed for going on with it.
func startProcess(number int, s *server, q *requests, lateJobs, latePods int) *process {
	p := &process{number: number, server: s, requests: q, metrics: prometheus.NewRegistry(), knows: newKnowledge(),
		stopped: make(chan error, 1), found: map[string]*batchv1.Job{}, asked: map[string]string{}}
	p.jobs = newInformer(s.jobs, p.knows.toldJob, func(j *batchv1.Job) { p.knows.lose(j.UID) })
	p.pods = newInformer(s.pods, p.knows.toldPod, func(pod *corev1.Pod) { p.knows.lose(pod.UID) })
	p.knows.shown = p.pods.store
	c := job.New(p, p, job.Options{
		ManagedBy: []string{batchv1.JobControllerName}, Registerer: p.metrics, MaxUncountedPods: listLimit, MaxPodCreateDeletePerSync: perSync,
	})
	p.pods.list(max(0, len(s.pods.log)-latePods))
	if number%2 == 0 {
		p.pods.tell(len(p.pods.untold)) // Lists arrive in any order.
	}
	p.jobs.list(max(len(s.jobs.log)-lateJobs, s.jobs.upTo(int(p.pods.version.Load()))))
	p.jobs.tell(len(p.jobs.untold))
	p.pods.tell(len(p.pods.untold))
	p.knows.settle()
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() { p.stopped <- c.Run(ctx) }()
	return p
}

// Event and its sisters make a process the recorder of its controller.
func (p *process) Event(object runtime.Object, _, reason, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, told{object.(*batchv1.Job), reason, message})
}

func (p *process) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	p.Event(object, kind, reason, fmt.Sprintf(format, args...))
}

//nolint:revive // The interface is client-go's.
func (p *process) AnnotatedEventf(object runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	p.Eventf(object, kind, reason, format, args...)
}

// knowledge is what a process must take into account: what it was told of, or what its writes were answered with, before
// the work that it does now began. It is what a controller can be blamed for.
type knowledge struct {
	job  *batchv1.Job
	pods map[types.UID]*corev1.Pod
	// heard is newer than the present work.
	heard []client.Object
	// shown is the informer's store, which may be ahead of what the process was told. It may look there.
	shown cache.Store
	// early pods were shown before their Job: what became of them may be forgotten.
	early map[types.UID]bool
	// gone are objects that it takes into account as such; lost is newer than the present work.
	gone map[types.UID]bool
	lost []types.UID
}

func newKnowledge() *knowledge {
	return &knowledge{pods: map[types.UID]*corev1.Pod{}, early: map[types.UID]bool{}, gone: map[types.UID]bool{}}
}

func (k *knowledge) toldJob(j *batchv1.Job) { k.heard = append(k.heard, j) }

func (k *knowledge) toldPod(p *corev1.Pod) {
	k.heard = append(k.heard, p)
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil && !k.knowsJob(ref.UID) {
		k.early[p.UID] = true
	}
}

func (k *knowledge) lose(uid types.UID) { k.lost = append(k.lost, uid) }

func (k *knowledge) knowsJob(uid types.UID) bool {
	return (k.job != nil && k.job.UID == uid) || slices.ContainsFunc(k.heard, func(o client.Object) bool { return o.GetUID() == uid })
}

// settle is for moments at which the process does nothing.
func (k *knowledge) settle() {
	for _, o := range k.heard {
		switch o := o.(type) {
		case *batchv1.Job:
			if k.job == nil || versionOf(k.job) < versionOf(o) {
				k.job = o
			}
		case *corev1.Pod:
			old := k.pods[o.UID]
			if old == nil || versionOf(old) < versionOf(o) {
				k.pods[o.UID] = o
			}
		}
	}
	k.heard = k.heard[:0]
	for _, uid := range k.lost {
		k.gone[uid] = true
	}
	k.lost = k.lost[:0]
}

// created takes in a pod at once: whoever creates pods one by one must count along.
func (k *knowledge) created(p *corev1.Pod) { k.pods[p.UID] = p }

// versions returns those of a pod that the process may have acted on, oldest first.
func (k *knowledge) versions(uid types.UID) (list []*corev1.Pod) {
	if p := k.pods[uid]; p != nil {
		list = append(list, p)
	}
	for _, o := range k.heard {
		if p, ok := o.(*corev1.Pod); ok && p.UID == uid {
			list = append(list, p)
		}
	}
	for _, o := range k.shown.List() {
		if p := o.(*corev1.Pod); p.UID == uid {
			list = append(list, p)
		}
	}
	return list
}

// mayKeep tells that a pod could be among those that are there.
func (k *knowledge) mayKeep(uid types.UID) bool { return k.oldest(uid) != nil && !k.gone[uid] }

func (k *knowledge) oldest(uid types.UID) *corev1.Pod {
	if all := k.versions(uid); len(all) > 0 {
		return all[0]
	}
	return nil
}
