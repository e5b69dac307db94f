package v1beta1_test

import (
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	batchv1beta1 "k8s.io/api/batch/v1beta1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/cronjob/v1beta1"
)

// random fills obj with random values. Over many calls, every field is set.
func random(t *rapid.T, obj any) {
	codecs := serializer.NewCodecFactory(runtime.NewScheme())
	fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(rapid.Int64().Draw(t, "seed")), codecs).Fill(obj)
}

func TestNothingIsLostOnTheWayThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		meta := metav1.ListMeta{ResourceVersion: "7", Continue: "c"}
		batch := &batchv1.CronJobList{ListMeta: meta, Items: make([]batchv1.CronJob, 1)}
		old := &batchv1beta1.CronJobList{ListMeta: meta, Items: make([]batchv1beta1.CronJob, 1)}
		random(t, &batch.Items[0])
		random(t, &old.Items[0])
		batch.Items[0].TypeMeta, old.Items[0].TypeMeta = metav1.TypeMeta{}, metav1.TypeMeta{} // The scheme sets them.

		var asOld, oldAgain batchv1beta1.CronJobList
		var asBatch, batchAgain batchv1.CronJobList
		v1beta1.ListFromBatch(batch.DeepCopy(), &asOld)
		v1beta1.ListToBatch(&asOld, &batchAgain)
		if diff := cmp.Diff(batch, &batchAgain); diff != "" {
			t.Fatalf("batch/v1 → v1beta1 → batch/v1 (-want +got):\n%s", diff)
		}
		v1beta1.ListToBatch(old.DeepCopy(), &asBatch)
		v1beta1.ListFromBatch(&asBatch, &oldAgain)
		if diff := cmp.Diff(old, &oldAgain); diff != "" {
			t.Fatalf("v1beta1 → batch/v1 → v1beta1 (-want +got):\n%s", diff)
		}
	})
}
