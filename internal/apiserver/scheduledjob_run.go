package apiserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	scheduledjobregistry "github.com/stint-dev/stint/internal/apiserver/registry/scheduledjob"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

var (
	scheduledJobsResource = schema.GroupResource{Group: stintv1.GroupName, Resource: "scheduledjobs"}
	runKind               = stintv1.SchemeGroupVersion.WithKind("ScheduledJobRun")
)

// runREST serves scheduledjobs/run, which adds a pending run and returns its tag.
type runREST struct {
	// scheduledJobs is the store with the strategy of /status.
	scheduledJobs *genericregistry.Store
	podTemplates  *genericregistry.Store
}

func (*runREST) New() runtime.Object { return &stintv1.ScheduledJobRun{} }

// Destroy does nothing: the stores belong to the ScheduledJobs and PodTemplates.
func (*runREST) Destroy() {}

// Create implements rest.NamedCreater.
func (r *runREST) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	run, ok := obj.(*stintv1.ScheduledJobRun)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a ScheduledJobRun: %T", obj))
	}
	if run.Name != "" && run.Name != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the run (%s) must be the name of the ScheduledJob in the URL (%s)", run.Name, name))
	}
	if validate != nil {
		if err := validate(ctx, run.DeepCopy()); err != nil {
			return nil, err
		}
	}
	var answer *stintv1.ScheduledJobRun
	info := updateOf(nil, func(ctx context.Context, obj runtime.Object) (err error) {
		answer, err = r.add(ctx, obj.(*stintv1.ScheduledJob), run)
		return err
	})
	_, _, err := r.scheduledJobs.Update(ctx, name, info, nil, nil, false, &metav1.UpdateOptions{DryRun: options.DryRun})
	return answer, err
}

// add adds the run to the pending ones, unless it exists: a repeated request starts only one run.
func (r *runREST) add(ctx context.Context, scheduledJob *stintv1.ScheduledJob, run *stintv1.ScheduledJobRun) (*stintv1.ScheduledJobRun, error) {
	if scheduledJob.DeletionTimestamp != nil {
		return nil, apierrors.NewConflict(scheduledJobsResource, scheduledJob.Name, fmt.Errorf("it is being deleted"))
	}
	if errs := scheduledjobregistry.ValidateRun(run, r.template(ctx, &scheduledJob.Spec)); len(errs) > 0 {
		return nil, apierrors.NewInvalid(runKind.GroupKind(), scheduledJob.Name, errs)
	}
	answer := &stintv1.ScheduledJobRun{Tag: run.Tag, Overrides: run.Overrides}
	answer.SetGroupVersionKind(runKind)
	answer.Name, answer.Namespace = scheduledJob.Name, scheduledJob.Namespace
	status := &scheduledJob.Status
	if run.Tag == "" {
		answer.Tag = newTag(status)
	} else if known := scheduledjob.Find(status, run.Tag); known != nil {
		if scheduledjob.SameRun(known, run.Overrides) {
			return answer, nil
		}
		return nil, otherRun(scheduledJob.Name, run.Tag)
	}
	if scheduledjobregistry.PendingManually(status) >= scheduledjobregistry.MaxPendingManually {
		return nil, apierrors.NewForbidden(scheduledJobsResource, scheduledJob.Name, fmt.Errorf("%d runs on demand wait already: "+
			"ask again when some have started, or remove some from status.pendingExecutions", scheduledjobregistry.MaxPendingManually))
	}
	now := metav1.Now().Rfc3339Copy()
	status.PendingExecutions = append(status.PendingExecutions, stintv1.Execution{
		Tag:       answer.Tag,
		Trigger:   stintv1.TriggerManual,
		Status:    stintv1.ExecutionPending,
		CreatedAt: &now,
		Overrides: run.Overrides,
	})
	return answer, nil
}

func otherRun(name, tag string) error {
	err := apierrors.NewAlreadyExists(schema.GroupResource{Group: stintv1.GroupName, Resource: "scheduledjobs/run"}, tag)
	err.ErrStatus.Message = fmt.Sprintf("scheduledjob %s has another run %s, with other overrides: choose another tag", name, tag)
	return err
}

// template returns the pod template of the runs, or nil if its PodTemplate does not exist yet.
func (r *runREST) template(ctx context.Context, spec *stintv1.ScheduledJobSpec) *corev1.PodTemplateSpec {
	if spec.TemplateRef == nil {
		return spec.Template
	}
	obj, err := r.podTemplates.Get(ctx, spec.TemplateRef.Name, &metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return &obj.(*corev1.PodTemplate).Template
}

// newTag returns a tag that no run has.
func newTag(status *stintv1.ScheduledJobStatus) string {
	for {
		tag := scheduledjob.GenerateTag(rand.String(5))
		if scheduledjob.Find(status, tag) == nil {
			return tag
		}
	}
}

// withEmptyRun allows requests to scheduledjobs/run without a body, such as those of curl -X POST.
func withEmptyRun(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		info, ok := apirequest.RequestInfoFrom(req.Context())
		if ok && req.ContentLength == 0 && info.Verb == "create" && info.Subresource == "run" && info.APIGroup == stintv1.GroupName {
			req = req.Clone(req.Context())
			req.Body = io.NopCloser(strings.NewReader("{}"))
			req.ContentLength = int64(len("{}"))
			req.Header.Set("Content-Type", runtime.ContentTypeJSON)
		}
		handler.ServeHTTP(w, req)
	})
}
