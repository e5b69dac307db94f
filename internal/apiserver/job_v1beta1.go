package apiserver

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	jobregistry "github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// Jobs are served in two groups from one storage. The stored form, and the form in memory, is batch/v1. Jobs are converted
// when clients of extensions/v1beta1 read or write them.

// addJobV1beta1 adds extensions/v1beta1's Jobs to the scheme. Their internal form is batch/v1's too.
func addJobV1beta1(scheme *runtime.Scheme, r kinds.Resource) error {
	scheme.AddKnownTypes(internal(v1beta1.GroupName), &batchv1.Job{}, &batchv1.JobList{})
	scheme.AddTypeDefaultingFunc(&v1beta1.Job{}, func(obj any) { r.Default(obj.(runtime.Object)) })
	return errors.Join(
		addConversion(scheme, v1beta1.FromBatch),
		addConversion(scheme, v1beta1.ToBatch),
		addConversion(scheme, v1beta1.ListFromBatch),
		addConversion(scheme, v1beta1.ListToBatch),
		addFieldLabels(scheme, r),
	)
}

// addJobsV1beta1 adds the routes of extensions/v1beta1. It copies the store of Jobs, so it must be called after all hooks
// have been added to that store.
func addJobsV1beta1(out routes, jobs *objectREST) {
	main := newJobV1beta1REST(jobs)
	out.add(v1beta1.SchemeGroupVersion, "jobs", main)
	out.add(v1beta1.SchemeGroupVersion, "jobs/status", &jobV1beta1StatusREST{newStatusREST(main.objectREST)})
}

// jobV1beta1REST serves the Jobs of batch/v1's objectREST in extensions/v1beta1.
type jobV1beta1REST struct{ *objectREST }

func newJobV1beta1REST(jobs *objectREST) *jobV1beta1REST {
	r := jobregistry.V1beta1(jobs.resource)
	kind := r.Version.WithKind(r.Kind)
	s := newStrategy(versionedErrors{jobs.CreateStrategy, kind}, r)
	st := *jobs.Store
	st.DefaultQualifiedResource = r.Version.WithResource(r.Plural).GroupResource()
	st.SingularQualifiedResource = r.Version.WithResource(r.Singular).GroupResource()
	st.CreateStrategy, st.UpdateStrategy, st.DeleteStrategy, st.ResetFieldsStrategy = s, s, s, s
	st.TableConvertor = v1beta1Tables{st.TableConvertor}
	return &jobV1beta1REST{&objectREST{Store: &st, resource: r}}
}

// versionedErrors makes errors name the version of the client.
type versionedErrors struct {
	runtime.ObjectTyper
	kind schema.GroupVersionKind
}

func (k versionedErrors) ObjectKinds(runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{k.kind}, false, nil
}

// Update implements rest.Updater.
//
//nolint:revive // the library's signature
func (r *jobV1beta1REST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.objectREST.Update(ctx, name, v1beta1Managers{objInfo}, createValidation, updateValidation, forceAllowCreate, options)
}

// jobV1beta1StatusREST serves jobs/status in extensions/v1beta1.
type jobV1beta1StatusREST struct{ *statusREST }

// Update implements rest.Updater.
//
//nolint:revive // the library's signature
func (r *jobV1beta1StatusREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.statusREST.Update(ctx, name, v1beta1Managers{objInfo}, createValidation, updateValidation, forceAllowCreate, options)
}

// v1beta1Tables converts managedFields in tables to the client's version.
type v1beta1Tables struct{ rest.TableConvertor }

// ConvertToTable implements rest.TableConvertor.
func (t v1beta1Tables) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	table, err := t.TableConvertor.ConvertToTable(ctx, obj, options)
	if err != nil {
		return nil, err
	}
	for i := range table.Rows {
		if shown := &table.Rows[i].Object; shown.Object != nil {
			shown.Object = withV1beta1Managers(shown.Object)
		}
	}
	return table, nil
}

// v1beta1Managers converts managedFields to the client's version before an update, so that field managers are compared and
// conflicts are reported in that version.
type v1beta1Managers struct{ rest.UpdatedObjectInfo }

// UpdatedObject implements rest.UpdatedObjectInfo.
func (m v1beta1Managers) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	return m.UpdatedObjectInfo.UpdatedObject(ctx, withV1beta1Managers(old))
}

// withV1beta1Managers returns a copy of the Job with converted managedFields. obj may be shared with the cache.
func withV1beta1Managers(obj runtime.Object) runtime.Object {
	job := *obj.(*batchv1.Job)
	job.ManagedFields = v1beta1.ManagersFromBatch(job.ManagedFields)
	return &job
}
