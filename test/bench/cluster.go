package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/server"
)

const namespace = "default"

// cluster is a server in this process with a data directory of its own.
type cluster struct {
	client.Interface
	rest *rest.Config
	dir  string
	// end ends the server, and stop removes its data directory as well.
	end func() error
}

// start starts a server, with the product's node or a pretended one.
func (b *bench) start(ctx context.Context, realNode bool) (*cluster, error) {
	return b.startWith(ctx, server.Options{Node: realNode, Job: job.Options{ConcurrentSyncs: b.syncs, MaxResults: b.maxResults}})
}

func (b *bench) startWith(ctx context.Context, o server.Options) (*cluster, error) {
	dir, err := os.MkdirTemp(b.dir, "data-")
	if err != nil {
		return nil, err
	}
	o.DataDir, o.ImageDir = dir, b.imageDir()
	ctx, cancel := context.WithCancel(ctx)
	s, err := server.Start(ctx, o)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start the server: %w", err)
	}
	var nodes sync.WaitGroup
	c := &cluster{Interface: s.Client(), rest: s.RESTConfig(), dir: dir}
	c.end = func() error {
		cancel()
		nodes.Wait()
		return s.Wait()
	}
	if o.Node {
		return c, nil
	}
	fake, err := newFakeNode(s.Client())
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	nodes.Go(func() { fake.run(ctx) })
	return c, nil
}

func (c *cluster) stop() error { return errors.Join(c.end(), os.RemoveAll(c.dir)) }

// imageDir is the store of images of all servers of this call.
func (b *bench) imageDir() string { return filepath.Join(b.dir, "images") }

// during measures what work costs. The number of writes is the growth of the store's revision, which goes up by one
// with every write of any object, events included. A ConfigMap that is created before and one that is created after
// show the revision.
func (c *cluster) during(ctx context.Context, things int, work func() error) (result, error) {
	clock := newStopwatch()
	before, err := c.revision(ctx)
	if err != nil {
		return result{}, err
	}
	requests, err := countStoreRequests()
	if err != nil {
		return result{}, err
	}
	clock.start()
	if err := work(); err != nil {
		return result{}, err
	}
	r := clock.stop()
	r.things = things
	now, err := countStoreRequests()
	if err != nil {
		return r, err
	}
	fmt.Printf("store requests each: %s\n", now.since(requests, things))
	after, err := c.revision(ctx)
	if err != nil {
		return result{}, err
	}
	r.writes = after - before - 1
	r.events, err = c.events(ctx)
	return r, err
}

func (c *cluster) revision(ctx context.Context) (revision int64, err error) {
	made, err := c.ConfigMaps().Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "revision-", Namespace: namespace}})
	if err != nil {
		return 0, fmt.Errorf("read the revision: %w", err)
	}
	_, err = fmt.Sscan(made.ResourceVersion, &revision)
	return revision, err
}

// events counts the events that are stored.
func (c *cluster) events(ctx context.Context) (int64, error) {
	set, err := kubernetes.NewForConfig(c.rest)
	if err != nil {
		return 0, err
	}
	list, err := set.CoreV1().Events("").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, fmt.Errorf("count events: %w", err)
	}
	n := int64(len(list.Items))
	if list.RemainingItemCount != nil {
		n += *list.RemainingItemCount
	}
	return n, nil
}

// noopJob returns a Job of n pods that do nothing, of which atATime run at once.
func noopJob(name string, n, atATime int) *batchv1.Job {
	completions, parallelism := int32(n), int32(atATime)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: batchv1.JobSpec{
			Completions: &completions, Parallelism: &parallelism,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "noop", Image: "none", Command: noop}},
			}},
		},
	}
}

// noop is the command of everything that is measured.
var noop = []string{"/bin/true"}

// finished returns a function that waits until n Jobs have completed. It returns an error if a Job fails.
func (c *cluster) finished(ctx context.Context, n int) (wait func() error, err error) {
	return c.finishedAmong(ctx, n, func(string) bool { return true })
}

// finishedAmong is finished for Jobs with some names.
func (c *cluster) finishedAmong(ctx context.Context, n int, counts func(name string) bool) (wait func() error, err error) {
	var mu sync.Mutex
	done := map[string]bool{}
	over := make(chan error, 1)
	see := func(o any) {
		job, ok := o.(*batchv1.Job)
		if !ok || !counts(job.Name) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		switch ended(job) {
		case batchv1.JobFailed:
			offer(over, fmt.Errorf("job %s failed: %v", job.Name, job.Status.Conditions))
		case batchv1.JobComplete:
			if done[job.Name] = true; len(done) == n {
				offer(over, nil)
			}
		}
	}
	registration, err := c.Jobs().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: see, UpdateFunc: func(_, now any) { see(now) }})
	if err != nil {
		return nil, err
	}
	return func() error {
		defer c.Jobs().Informer().RemoveEventHandler(registration) //nolint:errcheck // the informer ends anyway
		select {
		case err := <-over:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}, nil
}

func offer(over chan error, err error) {
	select {
	case over <- err:
	default:
	}
}

func ended(job *batchv1.Job) batchv1.JobConditionType {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete) {
			return c.Type
		}
	}
	return ""
}
