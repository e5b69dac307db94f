package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/test/kube"
)

// driver plays the nodes of a cluster on which one Job runs, and records the time of every step.
//
//	pod appears ──(it runs a while)──▶ Succeeded, time noted ──▶ status.succeeded of the Job counts it, time noted
type driver struct {
	set  kubernetes.Interface
	load load
	todo chan *corev1.Pod
	over chan error

	mu       sync.Mutex
	finished []time.Time
	counted  []time.Time
	// quarter, where set, is called whenever another quarter of the pods is counted.
	quarter func()
}

// kubelets is how many pods can be reported as ended at the same time.
const kubelets = 64

func newDriver(set kubernetes.Interface, l load) *driver {
	return &driver{set: set, load: l, todo: make(chan *corev1.Pod, 2*l.pods), over: make(chan error, 1)}
}

// start starts the driver, which runs until stop is called. It returns once the informers have synced.
func (d *driver) start(ctx context.Context) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactoryWithOptions(d.set, 0, informers.WithNamespace(namespace))
	jobs, pods := factory.Batch().V1().Jobs().Informer(), factory.Core().V1().Pods().Informer()
	_, podErr := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: d.podShown})
	_, jobErr := jobs.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, now any) { d.jobShown(now) }})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	var group sync.WaitGroup
	for range kubelets {
		group.Go(func() { d.play(ctx) })
	}
	return func() {
		cancel()
		group.Wait()
		factory.Shutdown()
	}, errors.Join(podErr, jobErr)
}

func (d *driver) podShown(o any) {
	pod, ok := o.(*corev1.Pod)
	if !ok || pod.Status.Phase != corev1.PodPending {
		return
	}
	if d.load.lasts == 0 {
		d.todo <- pod
		return
	}
	time.AfterFunc(d.load.lasts, func() { d.todo <- pod })
}

func (d *driver) play(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case pod := <-d.todo:
			if err := d.end(ctx, pod.DeepCopy()); err != nil && ctx.Err() == nil {
				offer(d.over, fmt.Errorf("end pod %s: %w", pod.Name, err))
			}
		}
	}
}

func (d *driver) end(ctx context.Context, pod *corev1.Pod) error {
	succeed(pod)
	pod.Spec.NodeName = "" // a real API server accepts it only in a binding, and no count depends on it
	_, err := d.set.CoreV1().Pods(namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.finished = append(d.finished, time.Now())
	return nil
}

func (d *driver) jobShown(o any) {
	job, ok := o.(*batchv1.Job)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for len(d.counted) < int(job.Status.Succeeded) {
		d.counted = append(d.counted, now)
		if len(d.counted)%max(1, d.load.pods/4) == 0 && d.quarter != nil {
			d.quarter()
		}
	}
	switch ended(job) {
	case batchv1.JobComplete:
		offer(d.over, nil)
	case batchv1.JobFailed:
		offer(d.over, fmt.Errorf("job %s failed: %v", job.Name, job.Status.Conditions))
	}
}

// finish creates a Job and waits for its end.
func (d *driver) finish(ctx context.Context, p *kube.Process, job *batchv1.Job) error {
	if _, err := d.set.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
		return err
	}
	select {
	case err := <-d.over:
		return err
	case <-p.Ended():
		return fmt.Errorf("it has ended by itself:\n%s", p.Tail())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reset discards the recorded times.
func (d *driver) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.finished, d.counted = nil, nil
}

func (d *driver) measure(ctx context.Context, p *kube.Process, job *batchv1.Job) (r clusterResult, err error) {
	before, err := requests(ctx, d.set)
	if err != nil {
		return r, err
	}
	note := func() { r.quarters = append(r.quarters, cpuOf(p.PID())) }
	note()
	d.quarter = note
	began := time.Now()
	if err := d.finish(ctx, p, job); err != nil {
		return r, err
	}
	r.took, r.cpu, r.things = time.Since(began), cpuOf(p.PID())-r.quarters[0], d.load.pods
	after, err := requests(ctx, d.set)
	// Two of the writes are the driver's: the creation of the Job, and the status of each pod.
	r.writes = after - before - 1 - int64(d.load.pods)
	r.latencies = d.latencies()
	return r, err
}

// latencies returns the times in ms from the end of the n-th pod to the Job's status that counts n pods.
func (d *driver) latencies() (all []float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortFunc(d.finished, time.Time.Compare)
	for i := range min(len(d.finished), len(d.counted)) {
		// The Job's status may count a pod before the driver's write of the pod's status has returned.
		all = append(all, max(0, float64(d.counted[i].Sub(d.finished[i]).Microseconds())/1000))
	}
	return all
}

// clear deletes all Jobs and pods, so that the next run starts with nothing. It deletes a page at a time, as the API
// server cancels a request after a minute.
func (d *driver) clear(ctx context.Context) error {
	now := int64(0)
	background := metav1.DeletePropagationBackground
	o := metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background}
	page := metav1.ListOptions{Limit: 1000}
	if err := d.set.BatchV1().Jobs(namespace).DeleteCollection(ctx, o, page); err != nil {
		return err
	}
	for {
		pods, err := d.set.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil || len(pods.Items) == 0 {
			return err
		}
		if err := d.set.CoreV1().Pods(namespace).DeleteCollection(ctx, o, page); err != nil {
			return err
		}
	}
}
