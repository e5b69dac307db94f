package run

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/manifest"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// refuseCycles refuses Jobs of the files that would wait for each other. A server may accept each of them.
func refuseCycles(objects []*manifest.Object) error {
	waiters := jobcore.NewDependencyGraph()
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
					Message: "Jobs would wait for each other: " + jobcore.Path(way), Remedy: "let one of them depend on none of the others"})
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
	return jobcore.UnmetDependencyNames(&batchv1.Job{ObjectMeta: job.ObjectMeta})
}

// inOrder sorts Jobs after those that they wait for, and otherwise keeps the order.
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

// awaitedBy returns the names of the Jobs that a Job waits for, by its conditions.
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
