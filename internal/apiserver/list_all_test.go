package apiserver

import (
	goruntime "runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/stint-dev/stint/internal/apiserver/registry"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/store"
)

// With one processor, the watch caches come to read their objects only when this test waits for something.
func TestAllObjectsAreListedBeforeTheWatchCacheHasReadThem(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(1))
	st, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	resources := registry.All(pod.Options{})
	scheme, err := newScheme(resources)
	if err != nil {
		t.Fatal(err)
	}
	made := newStorages(st, scheme, serializer.NewCodecFactory(scheme), resources)
	t.Cleanup(made.close)
	for _, r := range resources {
		if r.Plural != servicesResource.Resource {
			continue
		}
		services, err := newObjectREST(scheme, made, r)
		if err != nil {
			t.Fatal(err)
		}
		ctx := genericapirequest.WithNamespace(t.Context(), metav1.NamespaceAll)
		if _, err := listAll[*corev1.ServiceList](ctx, services); err != nil {
			t.Error(err)
		}
	}
}
