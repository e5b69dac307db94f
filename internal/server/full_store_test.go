package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/internal/store"
)

// fillStore creates ConfigMaps until one is refused, and returns the error.
func fillStore(t *testing.T, maps corev1client.ConfigMapInterface) error {
	t.Helper()
	data := map[string]string{"key": strings.Repeat("x", 20_000)}
	for i := 0; ; i++ {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m", i)}, Data: data}
		if _, err := maps.Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
}

func TestInAFullStoreObjectsAreDeletedEvenIfThatTakesAnUpdate(t *testing.T) {
	s, _ := start(t, server.Options{DataDir: t.TempDir(), StoreQuota: 32 << 20})
	maps := clientOf(t, s).CoreV1().ConfigMaps("default")
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/f"}}}
	if _, err := maps.Create(t.Context(), held, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	err := fillStore(t, maps)
	var refusal *apierrors.StatusError
	if !errors.As(err, &refusal) || refusal.ErrStatus.Code != http.StatusInsufficientStorage || refusal.ErrStatus.Reason != store.ReasonFull {
		t.Fatalf("a creation was refused with %v", err)
	}
	for _, name := range []string{"held", "m0"} {
		if err := maps.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("deletion of %s: %v", name, err)
		}
	}
	if _, err := maps.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("the last finalizer: %v", err)
	}
	for _, name := range []string{"held", "m0"} {
		if _, err := maps.Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s after its deletion: %v", name, err)
		}
	}
}
