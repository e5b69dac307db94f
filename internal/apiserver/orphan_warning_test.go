package apiserver_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestADeletionThatLeavesPodsBehindUnaskedWarns(t *testing.T) {
	cases := map[string]struct {
		options metav1.DeleteOptions
		warns   bool
	}{
		"without a policy":   {warns: true},
		"in the background":  {options: metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}},
		"orphaning, said so": {options: metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}},
	}
	r := start(t)
	batch := r.clientset(t).BatchV1()
	for name, c := range cases {
		for _, target := range []string{"/doomed", ""} {
			t.Run(name+target, func(t *testing.T) {
				if _, err := batch.Jobs("default").Create(t.Context(), job("doomed"), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				result := batch.RESTClient().Delete().AbsPath("/apis/batch/v1/namespaces/default/jobs" + target).Body(&c.options).Do(t.Context())
				if err := result.Error(); err != nil {
					t.Fatal(err)
				}
				if warned := len(result.Warnings()) > 0; warned != c.warns {
					t.Errorf("warnings %v, want some %v", result.Warnings(), c.warns)
				}
				// No garbage collector runs in this test, so remove the finalizer that waits for it.
				_, _ = batch.Jobs("default").Patch(t.Context(), "doomed", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			})
		}
	}
}
