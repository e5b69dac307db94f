package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/manifest"
)

// check sends a dry run of every object to the server before anything is created, and returns a plan for each Job.
func (s *submitter) check(ctx context.Context, objects []*manifest.Object) ([]*plan, error) {
	coming, err := s.comingNamespaces(ctx, objects)
	if err != nil {
		return nil, err
	}
	plans := make([]*plan, len(objects))
	found := make([]manifest.Problems, len(objects))
	err = inParallel(len(objects), func(i int) error {
		o := objects[i]
		var err error
		if job, isJob := o.Job(); isJob {
			if found[i], err = s.missingClass(ctx, o, job, objects); err != nil || found[i] != nil {
				return err
			}
			plans[i], err = s.planJob(ctx, o, coming[o.Typed.GetNamespace()])
		} else {
			err = s.dryRunSupport(ctx, o, coming[o.Typed.GetNamespace()])
		}
		found[i], err = inputProblems(o, err)
		return err
	})
	if err != nil {
		return nil, err
	}
	var problems manifest.Problems
	var jobs []*plan
	for i := range objects {
		problems = append(problems, found[i]...)
		if plans[i] != nil {
			plans[i].order = i
			jobs = append(jobs, plans[i])
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return jobs, nil
}

// comingNamespaces are those that this run will create. A dry run cannot use them yet.
func (s *submitter) comingNamespaces(ctx context.Context, objects []*manifest.Object) (map[string]bool, error) {
	coming := map[string]bool{}
	for _, o := range objects {
		if o.GVK.Kind != "Namespace" || o.GVK.Group != "" {
			continue
		}
		_, err := s.core().Namespaces().Get(ctx, o.Typed.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			coming[o.Typed.GetName()] = true
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for namespace %s: %w", o.Typed.GetName(), err)
		}
	}
	return coming, nil
}

// dryRunNamespace is used in dry runs instead of a namespace that does not exist yet.
const dryRunNamespace = metav1.NamespaceDefault

func (s *submitter) dryRunSupport(ctx context.Context, o *manifest.Object, coming bool) error {
	if !coming {
		return s.put(ctx, o, o.Typed.GetNamespace(), true)
	}
	client, err := s.clientFor(o, dryRunNamespace)
	if err != nil {
		return err
	}
	// Not applied: an object of the name in dryRunNamespace is another one.
	err = create(ctx, client, o, dryRunNamespace, true)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// put applies an object, or creates it if it has a generateName.
func (s *submitter) put(ctx context.Context, o *manifest.Object, namespace string, dryRun bool) error {
	client, err := s.clientFor(o, namespace)
	if err != nil {
		return err
	}
	if o.Typed.GetName() == "" {
		return create(ctx, client, o, namespace, dryRun)
	}
	object, err := bodyIn(o, namespace)
	if err != nil {
		return err
	}
	encoded, err := object.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, o.Typed.GetName(), types.ApplyPatchType, encoded, metav1.PatchOptions{
		FieldManager: fieldManager, DryRun: dry(dryRun), Force: ptr.To(false), FieldValidation: metav1.FieldValidationStrict})
	return err
}

func create(ctx context.Context, client dynamic.ResourceInterface, o *manifest.Object, namespace string, dryRun bool) error {
	object, err := bodyIn(o, namespace)
	if err != nil {
		return err
	}
	_, err = client.Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager, DryRun: dry(dryRun),
		FieldValidation: metav1.FieldValidationStrict})
	return err
}

func (s *submitter) clientFor(o *manifest.Object, namespace string) (dynamic.ResourceInterface, error) {
	c := s.clients.Load()
	mapping, err := c.mapper.RESTMapping(o.GVK.GroupKind(), o.GVK.Version)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.GVK.Kind, err)
	}
	if namespace == "" {
		return c.any.Resource(mapping.Resource), nil
	}
	return c.any.Resource(mapping.Resource).Namespace(namespace), nil
}

func dry(run bool) []string {
	if run {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// bodyIn returns the object as in the file, in the given namespace.
func bodyIn(o *manifest.Object, namespace string) (*unstructured.Unstructured, error) {
	encoded, err := json.Marshal(o.Body)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		return nil, err
	}
	if namespace != "" {
		object.SetNamespace(namespace)
	}
	return object, nil
}

// inputProblems turns a server's refusal into problems of the input. Other errors it returns.
func inputProblems(o *manifest.Object, err error) (manifest.Problems, error) {
	if err == nil {
		return nil, nil
	}
	var problems manifest.Problems
	if errors.As(err, &problems) {
		return problems, nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil, fmt.Errorf("check %s %s: %w", o.GVK.Kind, o.Name(), err)
	}
	switch {
	case apierrors.IsInvalid(err):
		return causes(o, status.Status()), nil
	case apierrors.IsConflict(err):
		return one(o, status.Status().Message, "others have set these fields; use stint apply --server-side --force-conflicts"), nil
	case apierrors.IsNotFound(err) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces":
		return manifest.Problems{{Place: o.Place, Field: "metadata.namespace",
			Message: fmt.Sprintf("namespace %q does not exist", o.Typed.GetNamespace()),
			Remedy:  "add a Namespace to the file, or choose another with -n"}}, nil
	case apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsRequestEntityTooLargeError(err):
		return one(o, status.Status().Message, ""), nil
	}
	return nil, fmt.Errorf("check %s %s: %w", o.GVK.Kind, o.Name(), err)
}

func one(o *manifest.Object, wrong, remedy string) manifest.Problems {
	return manifest.Problems{{Place: o.Place, Message: wrong, Remedy: remedy}}
}

func causes(o *manifest.Object, status metav1.Status) manifest.Problems {
	var problems manifest.Problems
	if status.Details != nil {
		for _, c := range status.Details.Causes {
			problems = append(problems, manifest.Problem{Place: o.Place, Field: strings.TrimPrefix(c.Field, "<nil>"), Message: o.TranslateError(c.Message)})
		}
	}
	if len(problems) == 0 {
		return one(o, status.Message, "")
	}
	return problems
}
