package apiserver

import (
	"context"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	core "github.com/stint-dev/stint/internal/job"
)

// jobDependencies refuses Jobs that would wait for each other.
type jobDependencies struct {
	jobs *genericregistry.Store
	// mu serializes creations until the Job is stored. Otherwise two concurrent ones would not find each other's Job.
	mu sync.Mutex
	// waiters has all Jobs that wait, and some that no longer wait or whose update failed. It is nil until a Job has
	// dependencies.
	waiters *core.DependencyGraph
	// reloadAt is the size at which waiters is loaded again, to drop the Jobs that no longer wait.
	reloadAt int
}

// refuseCycles installs jobDependencies in the store of Jobs.
func refuseCycles(jobs *genericregistry.Store) {
	d := &jobDependencies{jobs: jobs}
	before := jobs.BeginCreate
	jobs.BeginCreate = func(ctx context.Context, obj runtime.Object, o *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
		finish := func(context.Context, bool) {}
		if before != nil {
			var err error
			if finish, err = before(ctx, obj, o); err != nil {
				return nil, err
			}
		}
		finishOwn, err := d.beginCreate(ctx, obj.(*batchv1.Job), len(o.DryRun) > 0)
		if err != nil {
			finish(ctx, false)
			return nil, err
		}
		return func(ctx context.Context, created bool) {
			finishOwn(created)
			finish(ctx, created)
		}, nil
	}
	jobs.BeginUpdate = func(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
		return func(context.Context, bool) {}, d.beginUpdate(ctx, obj.(*batchv1.Job), old.(*batchv1.Job))
	}
}

func (d *jobDependencies) beginCreate(ctx context.Context, job *batchv1.Job, dry bool) (finish func(created bool), err error) {
	awaits := core.UnmetDependencyNames(&batchv1.Job{ObjectMeta: job.ObjectMeta}) // the status of a new Job is dropped
	if len(awaits) == 0 {
		return func(bool) {}, nil
	}
	d.mu.Lock()
	if err := d.refuse(ctx, job, awaits); err != nil {
		d.mu.Unlock()
		return nil, err
	}
	return func(created bool) {
		defer d.mu.Unlock()
		if created && !dry {
			d.waiters.Set(keyIn(ctx, job.Name), awaits)
		}
	}, nil
}

// beginUpdate checks the dependencies of an update. It does not hold the lock until the update is stored, so a concurrent
// write may still close a cycle. Then the controller fails all Jobs of the cycle.
func (d *jobDependencies) beginUpdate(ctx context.Context, job, old *batchv1.Job) error {
	if job.Annotations[core.DependsOn] == old.Annotations[core.DependsOn] {
		return nil
	}
	awaits := core.UnmetDependencyNames(&batchv1.Job{ObjectMeta: job.ObjectMeta, Status: old.Status})
	if len(awaits) == 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.refuse(ctx, job, awaits); err != nil {
		return err
	}
	d.waiters.Set(keyIn(ctx, job.Name), append(awaits, core.UnmetDependencyNames(old)...))
	return nil
}

// refuse returns an error if job would close a cycle.
func (d *jobDependencies) refuse(ctx context.Context, job *batchv1.Job, awaits []string) error {
	if err := d.load(ctx); err != nil {
		return err
	}
	for _, name := range awaits {
		way := d.waiters.Cycle(keyIn(ctx, job.Name), name)
		if way == nil {
			continue
		}
		there, err := d.cycleExists(ctx, way)
		if err != nil {
			return err
		}
		if there {
			return apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), job.Name, field.ErrorList{
				field.Invalid(core.AnnotationsPath.Key(core.DependsOn), job.Annotations[core.DependsOn],
					"Jobs would wait for each other: "+core.Path(way))})
		}
	}
	return nil
}

// cycleExists reports whether each Job on the way, except the one at its two ends, is stored and waits for the next one.
func (d *jobDependencies) cycleExists(ctx context.Context, way []string) (bool, error) {
	for i := 1; i < len(way)-1; i++ {
		obj, err := d.jobs.Get(ctx, way[i], &metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if job := obj.(*batchv1.Job); !stillAwaits(job, way[i+1]) {
			return false, nil
		}
	}
	return true, nil
}

func stillAwaits(job *batchv1.Job, name string) bool {
	return slices.ContainsFunc(core.UnmetDependencies(job), func(d core.DependencyRule) bool { return d.Job == name })
}

// load reads the waiting Jobs: the first time, and again when the graph has grown so much that many of its Jobs may no
// longer wait.
func (d *jobDependencies) load(ctx context.Context) error {
	if d.waiters != nil && d.waiters.Len() < d.reloadAt {
		return nil
	}
	list, err := listAll[*batchv1.JobList](genericapirequest.WithNamespace(ctx, metav1.NamespaceAll), d.jobs)
	if err != nil {
		return err
	}
	d.waiters = core.NewDependencyGraph()
	for i := range list.Items {
		j := &list.Items[i]
		d.waiters.Set(types.NamespacedName{Namespace: j.Namespace, Name: j.Name}, core.UnmetDependencyNames(j))
	}
	d.reloadAt = 2*d.waiters.Len() + 1000
	return nil
}

func keyIn(ctx context.Context, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: genericapirequest.NamespaceValue(ctx), Name: name}
}
