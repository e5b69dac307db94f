package store

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	"github.com/stint-dev/stint/internal/apiserver/registry"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// codecOf returns a codec as the API server has it for the stored objects of a kind.
func codecOf(t *testing.T, r kinds.Resource) (runtime.Codec, serializer.CodecFactory) {
	t.Helper()
	internal := schema.GroupVersion{Group: r.Version.Group, Version: runtime.APIVersionInternal}
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(r.Version, r.New())
	scheme.AddKnownTypes(internal, r.New())
	if r.Default != nil {
		scheme.AddTypeDefaultingFunc(r.New(), func(obj any) { r.Default(obj.(runtime.Object)) })
	}
	mediaType := runtime.ContentTypeJSON
	if _, ok := r.New().(interface{ Unmarshal([]byte) error }); ok {
		mediaType = runtime.ContentTypeProtobuf
	}
	codecs := serializer.NewCodecFactory(scheme)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	return codecs.CodecForVersions(info.Serializer, codecs.UniversalDeserializer(), r.Version, internal), codecs
}

func encoded(t *testing.T, codec runtime.Codec, obj runtime.Object) []byte {
	t.Helper()
	data, err := runtime.Encode(codec, obj)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// decode decodes a copy of data, because an event has other bytes than the write.
func decode(t *testing.T, codec runtime.Codec, data []byte, into runtime.Object) (runtime.Object, schema.GroupVersionKind) {
	t.Helper()
	obj, kind, err := codec.Decode(bytes.Clone(data), nil, into)
	if err != nil {
		t.Fatal(err)
	}
	return obj, *kind
}

func TestASharedObjectDoesNotChangeWhenItIsEncoded(t *testing.T) {
	plain, _ := codecOf(t, pod.Resource(pod.Options{}))
	limit := resource.MustParse("40Mi")
	data := encoded(t, plain, &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}},
	}}})
	got, _ := decode(t, newSharingCodec(plain), data, &corev1.Pod{})
	shared := got.(*corev1.Pod).Spec.Volumes[0].EmptyDir.SizeLimit
	before := *shared
	encoded(t, plain, got)
	if before != *shared {
		t.Errorf("%#v, want %#v", *shared, before)
	}
}

func TestASharedObjectIsWhatDecodingGives(t *testing.T) {
	eachFilled(t, func(t *testing.T, r kinds.Resource, plain runtime.Codec, data []byte) {
		shared := newSharingCodec(plain)
		for _, into := range []func() runtime.Object{r.New, func() runtime.Object { return nil }} {
			got, kind := decode(t, shared, data, into())
			want, wantKind := decode(t, plain, data, into())
			encodedSize(want) // It sets texts of quantities.
			encodedSize(got)
			if !reflect.DeepEqual(want, got) || kind != wantKind {
				t.Errorf("%s, want %s (-want +got):\n%s", kind, wantKind, cmp.Diff(want, got))
			}
		}
		if shared.awaited.Len() != 0 {
			t.Error("the event was decoded")
		}
	})
}

// eachFilled calls test with encoded objects of each kind, until one fails. Their fields have random values.
func eachFilled(t *testing.T, test func(t *testing.T, r kinds.Resource, codec runtime.Codec, data []byte)) {
	const objects = 100
	for _, r := range registry.All(pod.Options{}) {
		t.Run(r.Kind, func(t *testing.T) {
			codec, codecs := codecOf(t, r)
			fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs).Funcs(fillQuantity)
			for i := 0; i < objects && !t.Failed(); i++ {
				obj := r.New()
				fill.Fill(obj)
				test(t, r, codec, encoded(t, codec, obj))
			}
		})
	}
}

// fillQuantity makes some quantities so large that decoding does not keep their text.
func fillQuantity(q *resource.Quantity, c randfill.Continue) {
	*q = *resource.NewQuantity(c.Rand.Int63n(1000), resource.DecimalExponent)
	if c.Bool() {
		q.Mul(math.MaxInt64)
	}
}

func TestAnEventOwnsItsMetadata(t *testing.T) {
	codec := sharingOf(t, registry.ConfigMap())
	data := encoded(t, codec, &corev1.ConfigMap{Data: map[string]string{"k": "v"}})
	result, _ := decode(t, codec, data, &corev1.ConfigMap{})
	result.(*corev1.ConfigMap).ResourceVersion = "7"
	event, _ := decode(t, codec, data, nil)
	if m := event.(*corev1.ConfigMap); m.ResourceVersion != "" || m.Kind != "" {
		t.Errorf("the event of the write has the result's metadata: %v", m)
	}
	again, _ := decode(t, codec, data, nil)
	again.(*corev1.ConfigMap).ResourceVersion = "8"
	if m := event.(*corev1.ConfigMap); m.ResourceVersion != "" {
		t.Errorf("it has another event's metadata: %v", m)
	}
}

func TestOnlyTheSameBytesAreShared(t *testing.T) {
	codec := sharingOf(t, registry.ConfigMap())
	data := encoded(t, codec, &corev1.ConfigMap{Data: map[string]string{"k": "v"}})
	other := encoded(t, codec, &corev1.ConfigMap{Data: map[string]string{"k": "w"}})
	result, kind := decode(t, codec, data, &corev1.ConfigMap{})
	codec.awaited.Add(maphash.Bytes(codec.seed, other), decoded{data, result, kind}) // as if both had the same hash
	event, _ := decode(t, codec, other, nil)
	if got := event.(*corev1.ConfigMap).Data["k"]; got != "w" {
		t.Errorf("the event has k=%s of another object", got)
	}
}

func TestObjectsThatNoEventTakesAreBounded(t *testing.T) {
	codec := sharingOf(t, registry.ConfigMap())
	for i := range 2 * maxAwaited {
		data := encoded(t, codec, &corev1.ConfigMap{Data: map[string]string{"k": fmt.Sprint(i)}})
		decode(t, codec, data, &corev1.ConfigMap{})
	}
	if n := codec.awaited.Len(); n != maxAwaited {
		t.Errorf("%d are kept, want %d", n, maxAwaited)
	}
	data := encoded(t, codec, &corev1.ConfigMap{Data: map[string]string{"k": strings.Repeat("v", maxShared)}})
	decode(t, codec, data, &corev1.ConfigMap{})
	if _, kept := codec.take(maphash.Bytes(codec.seed, data), data); kept {
		t.Error("a large object is kept")
	}
}

func sharingOf(t *testing.T, r kinds.Resource) *sharingCodec {
	t.Helper()
	codec, _ := codecOf(t, r)
	return newSharingCodec(codec)
}
