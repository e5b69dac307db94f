package remote

import (
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// plainDecoder decodes all fields.
var plainDecoder = protobuf.NewSerializer(scheme, scheme)

func encodedPod(t testing.TB, pod runtime.Object) []byte {
	t.Helper()
	data, err := runtime.Encode(codecs.EncoderForVersion(plainDecoder, corev1.SchemeGroupVersion), pod)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decodedPod(t *testing.T, d runtime.Decoder, data []byte, into runtime.Object) *corev1.Pod {
	t.Helper()
	obj, kind, err := d.Decode(data, nil, into)
	if err != nil {
		t.Fatal(err)
	}
	if *kind != podKind {
		t.Errorf("decoded a %v", kind)
	}
	pod := obj.(*corev1.Pod)
	pod.TypeMeta = metav1.TypeMeta{}
	return pod
}

func TestDecodedPodsHaveWhatTrimmedOnesHave(t *testing.T) {
	const pods = 300
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs)
	for i := 0; i < pods && !t.Failed(); i++ {
		pod := &corev1.Pod{}
		fill.Fill(pod)
		pod.OwnerReferences = fullPod("Job").OwnerReferences
		data := encodedPod(t, pod)
		want := decodedPod(t, plainDecoder, data, nil)
		trimPod(want)
		for _, into := range []runtime.Object{nil, &corev1.Pod{}} {
			got := decodedPod(t, podDecoder{plainDecoder}, data, into)
			if len(got.Spec.Volumes)+len(got.ManagedFields) > 0 {
				t.Error("fields are decoded that no controller reads")
			}
			trimPod(got)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		}
	}
}

func TestOtherObjectsThanPodsAreDecodedAsAWhole(t *testing.T) {
	for _, sent := range []runtime.Object{
		&metav1.Status{Message: "gone"},
		&corev1.PodList{Items: []corev1.Pod{{Spec: corev1.PodSpec{Subdomain: "s"}}}},
	} {
		data := encodedPod(t, sent)
		want, _, err := plainDecoder.Decode(data, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := podDecoder{plainDecoder}.Decode(data, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	}
}

func TestATruncatedPodIsRefused(t *testing.T) {
	data := encodedPod(t, fullPod("Job"))
	for n := range data {
		_, _, want := plainDecoder.Decode(data[:n], nil, nil)
		_, _, got := podDecoder{plainDecoder}.Decode(data[:n], nil, nil)
		if (got == nil) != (want == nil) {
			t.Errorf("%d of %d bytes: error %v, want %v", n, len(data), got, want)
		}
	}
}

func BenchmarkDecodePod(b *testing.B) {
	pod := fullPod("Job")
	const written = `{"f:metadata":{"f:labels":{".":{},"f:l":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:env":{}}}}}`
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(written)}, {Manager: "n", FieldsV1: metav1.NewFieldsV1(written)}}
	data := encodedPod(b, pod)
	for name, d := range map[string]runtime.Decoder{"whole": plainDecoder, "what is needed": podDecoder{plainDecoder}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := d.Decode(data, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
