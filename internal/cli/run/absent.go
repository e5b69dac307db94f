package run

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/cli/absent"
	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/podneeds"
)

// absentShown bounds the missing objects that are shown.
const absentShown = 5

// jobNeed is an object that pods of a Job need.
type jobNeed struct {
	namespace, job string
	podneeds.Need
}

type needKey struct {
	kind            podneeds.Kind
	namespace, name string
}

func (n jobNeed) key() needKey { return needKey{n.Kind, n.namespace, n.Name} }

// noteAbsent shows the objects that pods need and that neither exist nor are in the files, with the commands that create them.
// Something else may yet create them, so the run goes on.
func (s *submitter) noteAbsent(ctx context.Context, objects []*manifest.Object) error {
	coming := s.coming(objects)
	needs := slices.DeleteFunc(needsOf(jobsOf(objects)), func(n jobNeed) bool { return coming[n.key()] })
	missing := make([]bool, len(needs))
	err := inParallel(len(needs), func(i int) error {
		_, err := absent.Get(ctx, s.core(), needs[i].Kind, needs[i].namespace, needs[i].Name)
		missing[i] = apierrors.IsNotFound(err)
		return ctx.Err() // Other errors leave open whether the object exists.
	})
	if err != nil {
		return err
	}
	shown, more := 0, 0
	for i, n := range needs {
		switch {
		case !missing[i]:
		case shown == absentShown:
			more++
		default:
			shown++
			s.out.Note(s.absence(n))
		}
	}
	if more > 0 {
		s.out.Note(fmt.Sprintf("and %s that Jobs need do not exist", numbered(more, "more object")))
	}
	return nil
}

func (s *submitter) absence(n jobNeed) string {
	onCluster := s.target.Kind == target.Cluster
	effect := "the pods wait for it"
	if n.Kind == podneeds.ServiceAccount && !onCluster {
		effect = "here only its pull secrets would count"
	}
	return fmt.Sprintf("job %s names the %s %s, which does not exist; %s: %s", n.job, n.Kind, n.Name, effect,
		absent.Remedy(n.Need, n.namespace, s.caller, onCluster))
}

// needsOf returns what the pods of Jobs need, each object once, with the name of the first of the Jobs.
func needsOf(jobs []*batchv1.Job) []jobNeed {
	place := map[needKey]int{}
	var needs []jobNeed
	for _, job := range jobs {
		for _, need := range podneeds.Of(&job.Spec.Template.Spec) {
			n := jobNeed{job.Namespace, nameOf(job), need}
			at, seen := place[n.key()]
			if !seen {
				place[n.key()] = len(needs)
				needs = append(needs, n)
				continue
			}
			keys := slices.Concat(needs[at].Keys, need.Keys)
			slices.Sort(keys)
			needs[at].Keys = slices.Compact(keys)
		}
	}
	return needs
}

func nameOf(job *batchv1.Job) string {
	if job.Name == "" {
		return job.GenerateName + "*"
	}
	return job.Name
}

// coming is what this run creates.
func (s *submitter) coming(objects []*manifest.Object) map[needKey]bool {
	coming := map[needKey]bool{}
	for _, o := range objects {
		coming[needKey{podneeds.Kind(o.GVK.Kind), o.Typed.GetNamespace(), o.Typed.GetName()}] = true
	}
	for _, c := range s.claims {
		coming[needKey{podneeds.PersistentVolumeClaim, c.namespace, c.Name}] = true
	}
	return coming
}
