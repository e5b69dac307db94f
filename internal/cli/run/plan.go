package run

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// hashAnnotation has the hash of a Job's manifest, by which a later run of the same file recognises the Job.
const hashAnnotation = "stint.dev/manifest-hash"

// plan says how one Job becomes part of the run.
type plan struct {
	// order is the place in the manifest.
	order  int
	object *manifest.Object
	job    *batchv1.Job
	how    output.How
	// existing is a Job of the same name: it is followed, or deleted first.
	existing *batchv1.Job
}

// ownManagers are the values of spec.managedBy that the controller on this machine serves.
var ownManagers = []string{batchv1.JobControllerName, jobcore.ManagedBy}

// manageable refuses a Job that no controller on this machine manages.
func (s *submitter) manageable(o *manifest.Object, job *batchv1.Job) error {
	by := job.Spec.ManagedBy
	if by == nil || s.target.Kind == target.Cluster || slices.Contains(ownManagers, *by) {
		return nil
	}
	return manifest.Problems{{Place: o.Place, Field: "spec.managedBy",
		Message: fmt.Sprintf("names the controller %q, which does not run here", *by),
		Remedy:  "remove the field, or name a cluster where it runs with --kubeconfig"}}
}

// planJob sends a dry run of a Job to the server and decides how it becomes part of the run.
func (s *submitter) planJob(ctx context.Context, o *manifest.Object, coming bool) (*plan, error) {
	original, _ := o.Job()
	if err := s.manageable(o, original); err != nil {
		return nil, err
	}
	job := original.DeepCopy()
	job.ResourceVersion = "" // An exported Job has one; this is a new Job.
	hash, err := o.Hash()
	if err != nil {
		return nil, err
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, hashAnnotation, hash)
	namespace := job.Namespace
	if coming {
		namespace = dryRunNamespace
	}
	err = s.dryRunJob(ctx, job, namespace)
	if refused := refuseAnnotations(o, job); refused != nil && (err == nil || apierrors.IsAlreadyExists(err)) {
		return nil, refused
	}
	p := &plan{object: o, job: job, how: output.Created}
	if !apierrors.IsAlreadyExists(err) {
		return p, err
	}
	if coming {
		return p, nil // the name exists in dryRunNamespace only
	}
	existing, err := s.batch().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	p.existing = existing
	p.how, err = resolveExisting(existing, hash)
	if err != nil {
		return nil, manifest.Problems{{Place: o.Place, Field: "metadata.name", Message: err.Error(),
			Remedy: fmt.Sprintf("wait for it, delete it (%s), or use another name", s.caller.Command(job.Namespace, "delete", "job", job.Name))}}
	}
	return p, nil
}

func (s *submitter) dryRunJob(ctx context.Context, job *batchv1.Job, namespace string) error {
	candidate := job
	if namespace != job.Namespace {
		candidate = job.DeepCopy()
		candidate.Namespace = namespace
	}
	_, err := s.batch().Jobs(namespace).Create(ctx, candidate, metav1.CreateOptions{FieldManager: fieldManager,
		DryRun: []string{metav1.DryRunAll}})
	return err
}

// resolveExisting decides whether an existing Job of the same name is replaced, followed, or an error.
func resolveExisting(existing *batchv1.Job, hash string) (output.How, error) {
	if existing.DeletionTimestamp != nil {
		return output.Created, nil // it is being deleted
	}
	if jobcore.Finished(existing) {
		return output.Replaced, nil
	}
	if existing.Annotations[hashAnnotation] == hash {
		return output.Followed, nil
	}
	return "", fmt.Errorf("job %q has not finished yet and was created from another manifest", existing.Name)
}
