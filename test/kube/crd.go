package kube

import (
	"context"
	"fmt"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/stint-dev/stint/test/await"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// InstallCRD creates the CustomResourceDefinition in a file, unless it exists, and returns when its kind is served.
func (c *Cluster) InstallCRD(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	crd := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &crd.Object); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	objects, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	if _, err := objects.Resource(crds).Create(ctx, crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("%s: %w", file, err)
	}
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil || len(versions) == 0 {
		return fmt.Errorf("%s: it has no versions: %w", file, err)
	}
	version, _, _ := unstructured.NestedString(versions[0].(map[string]any), "name")
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	served := objects.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural})
	return await.Poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := served.List(ctx, metav1.ListOptions{Limit: 1})
		return err == nil, nil
	})
}
