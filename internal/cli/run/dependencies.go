package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// refuseCycles finds Jobs of the files that would wait for each other: each would be accepted alone.
func refuseCycles(objects []*manifest.Object) error {
	waiters := jobcore.NewWaiters()
	for _, job := range jobsOf(objects) {
		waiters.Set(keyOf(job), dependenciesOf(job))
	}
	var problems manifest.Problems
	for _, o := range objects {
		job, isJob := o.Job()
		if !isJob || job.Name == "" {
			continue
		}
		for _, name := range dependenciesOf(job) {
			if way := waiters.Cycle(keyOf(job), name); way != nil {
				problems = append(problems, manifest.Problem{Place: o.Place, Field: jobcore.AnnotationsPath.Key(jobcore.DependsOn).String(),
					Wrong: "Jobs would wait for each other: " + jobcore.Path(way), Remedy: "let one of them depend on none of the others"})
				break
			}
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

func keyOf(job *batchv1.Job) types.NamespacedName {
	return types.NamespacedName{Namespace: job.Namespace, Name: job.Name}
}

// dependenciesOf returns the names of the Jobs that a Job of a file waits for.
func dependenciesOf(job *batchv1.Job) []string {
	return jobcore.AwaitedNames(&batchv1.Job{ObjectMeta: job.ObjectMeta})
}

// inOrder has Jobs come after those that they wait for, and else as they are.
func inOrder(plans []*plan) []*plan {
	byName := map[types.NamespacedName]*plan{}
	for _, p := range plans {
		byName[keyOf(p.job)] = p
	}
	var sorted []*plan
	placed := map[*plan]bool{}
	var place func(*plan)
	place = func(p *plan) {
		if p == nil || placed[p] {
			return
		}
		placed[p] = true
		for _, name := range dependenciesOf(p.job) {
			place(byName[types.NamespacedName{Namespace: p.job.Namespace, Name: name}])
		}
		sorted = append(sorted, p)
	}
	for _, p := range plans {
		place(p)
	}
	return sorted
}

// tellOrder says which Jobs wait for which, and for which that nobody has made yet.
func (s *session) tellOrder(ctx context.Context) {
	missing := map[types.NamespacedName]bool{}
	jobs := slices.SortedFunc(slices.Values(s.unended()), func(a, b *batchv1.Job) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, job := range jobs {
		s.tellOrderOf(ctx, job, missing)
	}
}

func (s *session) tellOrderOf(ctx context.Context, job *batchv1.Job, missing map[types.NamespacedName]bool) {
	awaited := jobcore.Awaited(job)
	if len(awaited) == 0 {
		return
	}
	if job.Spec.ManagedBy == nil && !s.isOfStint(ctx) {
		s.out.Note(fmt.Sprintf("job %s depends on others: on a cluster it waits for them only with spec.managedBy: %s", job.Name, jobcore.ManagedBy))
		return
	}
	w := output.JobWait{Job: output.Job{Namespace: job.Namespace, Name: job.Name}}
	for _, d := range awaited {
		key := types.NamespacedName{Namespace: job.Namespace, Name: d.Job}
		if _, asked := missing[key]; !asked {
			_, err := s.batch().Jobs(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
			missing[key] = apierrors.IsNotFound(err)
		}
		w.For = append(w.For, d.String())
		if missing[key] {
			w.Missing = append(w.Missing, d.Job)
		}
	}
	s.out.JobWaiting(w)
}

// isOfStint reports whether the server is one of Stint, which a kubeconfig may name too. It is the one that explains Jobs.
func (s *session) isOfStint(ctx context.Context) bool {
	if s.target.Kind != target.Cluster {
		return true
	}
	served := &metav1.APIResourceList{}
	err := s.batch().RESTClient().Get().AbsPath("/apis/batch/v1").Do(ctx).Into(served)
	return err == nil && slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == "jobs/why" })
}

// awaitedBy returns the names of the Jobs that a Job waits for, as its status has it.
func awaitedBy(job *batchv1.Job) []string {
	if !jobcore.WaitsForJobs(job) {
		return nil
	}
	var names []string
	for _, c := range jobcore.UnmetConditions(job) {
		names = append(names, strings.TrimPrefix(string(c.Type), jobcore.DependsOnCondition))
	}
	slices.Sort(names)
	return names
}
