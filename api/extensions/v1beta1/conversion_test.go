package v1beta1

import (
	"flag"
	"math/rand"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	// A fixed seed makes every run test the same Jobs. The command line is parsed later: -rapid.seed=0 draws new ones.
	_ = flag.Set("rapid.seed", "7")
	os.Exit(m.Run())
}

// the three values of an optional bool
var unset, no, yes = (*bool)(nil), new(false), new(true)

func TestTheSelectorFieldsAreOpposites(t *testing.T) {
	for sentence, c := range map[string]struct{ from, to, back *bool }{
		"null is false, and its opposite is written": {unset, yes, unset},
		"false has an opposite that is written":      {no, yes, unset},
		"true has an opposite that is left out":      {yes, unset, yes},
	} {
		t.Run(sentence, func(t *testing.T) {
			batch, old := batchv1.Job{}, Job{}
			FromBatch(&batchv1.Job{Spec: batchv1.JobSpec{ManualSelector: c.from}}, &old)
			ToBatch(&old, &batch)
			if diff := cmp.Diff([]*bool{c.to, c.back}, []*bool{old.Spec.AutoSelector, batch.Spec.ManualSelector}); diff != "" {
				t.Errorf("batch/v1 → v1beta1 → batch/v1 (-want +got):\n%s", diff)
			}
			ToBatch(&Job{Spec: JobSpec{AutoSelector: c.from}}, &batch)
			FromBatch(&batch, &old)
			if diff := cmp.Diff([]*bool{c.to, c.back}, []*bool{batch.Spec.ManualSelector, old.Spec.AutoSelector}); diff != "" {
				t.Errorf("v1beta1 → batch/v1 → v1beta1 (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryFieldOfBatchIsHere fails when a new release of the library has a field that this version lacks.
func TestEveryFieldOfBatchIsHere(t *testing.T) {
	for _, pair := range []struct{ batch, here any }{
		{batchv1.Job{}, Job{}}, {batchv1.JobList{}, JobList{}}, {batchv1.JobSpec{}, JobSpec{}},
	} {
		batch, here := fieldsOf(pair.batch), fieldsOf(pair.here)
		if diff := cmp.Diff(batch, here); diff != "" {
			t.Errorf("fields of %T (-batch +here):\n%s", pair.here, diff)
		}
	}
}

// commonName maps names and types that differ between the versions, but mean the same, to one name.
var commonName = map[string]string{
	"manualSelector": "the selector field", "autoSelector": "the selector field",
	"v1.JobSpec": "spec", "v1beta1.JobSpec": "spec", "[]v1.Job": "jobs", "[]v1beta1.Job": "jobs",
}

func fieldsOf(obj any) map[string]string {
	fields := map[string]string{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(obj)) {
		if len(f.Index) > 1 {
			continue // a field of an embedded struct
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type.String()
		if known, ok := commonName[name]; ok {
			name = known
		}
		if known, ok := commonName[kind]; ok {
			kind = known
		}
		fields[name] = kind
	}
	return fields
}

// randomBatchJob draws a Job. Over many draws every field is set.
func randomBatchJob(t *rapid.T) *batchv1.Job {
	codecs := serializer.NewCodecFactory(runtime.NewScheme())
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(rapid.Int64().Draw(t, "seed")), codecs)
	job := &batchv1.Job{}
	filler.Fill(job)
	job.TypeMeta = metav1.TypeMeta{} // The scheme sets it.
	job.Spec.ManualSelector = rapid.SampledFrom([]*bool{unset, no, yes}).Draw(t, "selector field")
	job.ManagedFields = rapid.SliceOfN(rapid.Custom(randomManager(batchNames)), 0, 3).Draw(t, "managers")
	return job
}

func randomManager(w names) func(*rapid.T) metav1.ManagedFieldsEntry {
	return func(t *rapid.T) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager:    rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "manager"),
			APIVersion: rapid.SampledFrom([]string{w.version, "other/v1"}).Draw(t, "version"),
			FieldsType: "FieldsV1",
			FieldsV1: rapid.SampledFrom([]*metav1.FieldsV1{
				nil,
				metav1.NewFieldsV1(`not JSON, but ` + w.field),
				metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:` + w.field + `":{}}}}`),
				metav1.NewFieldsV1(`{"f:spec":{"f:` + w.field + `":{},"f:parallelism":{}},"f:status":{"f:active":{}}}`),
			}).Draw(t, "fields"),
		}
	}
}

func TestNothingIsLostOnTheWayThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := randomBatchJob(t)
		var old, oldAgain Job
		var batch batchv1.Job
		FromBatch(job.DeepCopy(), &old)
		ToBatch(old.DeepCopy(), &batch)
		FromBatch(batch.DeepCopy(), &oldAgain)

		want := job.DeepCopy()
		if reflect.DeepEqual(want.Spec.ManualSelector, no) {
			want.Spec.ManualSelector = nil // An explicit false comes back as an unset field: see opposite.
		}
		if diff := cmp.Diff(want, &batch); diff != "" {
			t.Fatalf("batch/v1 → v1beta1 → batch/v1 (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(old, oldAgain); diff != "" {
			t.Fatalf("v1beta1 → batch/v1 → v1beta1 (-want +got):\n%s", diff)
		}
		for _, e := range old.ManagedFields {
			if e.APIVersion == batchNames.version {
				t.Fatalf("a client of v1beta1 sees a manager of batch/v1: %v", e)
			}
		}
	})
}

func TestListsAreConvertedItemByItem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := &batchv1.JobList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "c"}, Items: []batchv1.Job{*randomBatchJob(t)}}
		var old JobList
		var batch batchv1.JobList
		ListFromBatch(list.DeepCopy(), &old)
		ListToBatch(&old, &batch)
		list.Items[0].Spec.ManualSelector = opposite(opposite(list.Items[0].Spec.ManualSelector))
		if diff := cmp.Diff(list, &batch); diff != "" {
			t.Fatalf("there and back (-want +got):\n%s", diff)
		}
	})
}

// The input may be an object of a shared cache that other goroutines read at the same time.
func TestConversionLeavesItsInputAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := randomBatchJob(t)
		before := job.DeepCopy()
		var old Job
		FromBatch(job, &old)
		if diff := cmp.Diff(before, job); diff != "" {
			t.Fatalf("FromBatch changed its input (-before +after):\n%s", diff)
		}
		beforeOld := old.DeepCopy()
		ToBatch(&old, &batchv1.Job{})
		if diff := cmp.Diff(beforeOld, &old); diff != "" {
			t.Fatalf("ToBatch changed its input (-before +after):\n%s", diff)
		}
	})
}
