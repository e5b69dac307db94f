package run

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// missingClass refuses a Job whose RuntimeClass does not exist, and whose pods would be refused. A server accepts the Job, as
// the RuntimeClass may be created later; the run would wait for that.
func (s *submitter) missingClass(ctx context.Context, o *manifest.Object, job *batchv1.Job, coming []*manifest.Object) (manifest.Problems, error) {
	name := ptr.Deref(job.Spec.Template.Spec.RuntimeClassName, runtime.ClassProcess)
	inFile := func(other *manifest.Object) bool { return other.GVK.Kind == "RuntimeClass" && other.Name() == name }
	if s.target.Kind == target.Cluster || name == runtime.ClassProcess || name == runtime.ClassOCI || slices.ContainsFunc(coming, inFile) {
		return nil, nil
	}
	_, err := s.clients.Load().any.Resource(nodev1.SchemeGroupVersion.WithResource("runtimeclasses")).Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return nil, err
	}
	return manifest.Problems{{Place: o.Place, Field: "spec.template.spec.runtimeClassName",
		Message: fmt.Sprintf("there is no RuntimeClass %q", name),
		Remedy:  "choose oci (the image) or process (this machine's programs), or add a RuntimeClass with one of these handlers to the file",
	}}, nil
}
