package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/output"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// printOrder shows which Jobs wait for which others, and which of those do not exist yet.
func (f *follower) printOrder(ctx context.Context) {
	missing := map[types.NamespacedName]bool{}
	jobs := slices.SortedFunc(slices.Values(f.jobs.unended()), func(a, b *batchv1.Job) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, job := range jobs {
		f.printOrderOf(ctx, job, missing)
	}
}

func (f *follower) printOrderOf(ctx context.Context, job *batchv1.Job, missing map[types.NamespacedName]bool) {
	awaited := jobcore.UnmetDependencies(job)
	if len(awaited) == 0 {
		return
	}
	if job.Spec.ManagedBy == nil && !f.isOfStint(ctx) {
		f.out.Note(fmt.Sprintf("job %s depends on others: on a cluster it waits for them only with spec.managedBy: %s", job.Name, jobcore.ManagedBy))
		return
	}
	w := output.JobWait{Job: output.Job{Namespace: job.Namespace, Name: job.Name}}
	for _, d := range awaited {
		key := types.NamespacedName{Namespace: job.Namespace, Name: d.Job}
		if _, asked := missing[key]; !asked {
			_, err := f.batch().Jobs(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
			missing[key] = apierrors.IsNotFound(err)
		}
		w.For = append(w.For, d.String())
		if missing[key] {
			w.Missing = append(w.Missing, d.Job)
		}
	}
	f.out.JobWaiting(w)
}
