package registry

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
)

// objectCase is an object that is created or, if old is set, updated, with the expected errors.
type objectCase struct {
	old, obj runtime.Object
	want     []string
}

func runObjectCases(t *testing.T, r kinds.Resource, cases map[string]objectCase) {
	t.Helper()
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			ctx := context.Background()
			if c.old == nil {
				registrytest.WantErrors(t, r.Validate(ctx, registrytest.Posted(r, c.obj)), c.want...)
				return
			}
			if r.Default != nil {
				r.Default(c.obj)
			}
			registrytest.WantErrors(t, r.ValidateUpdate(ctx, c.obj, registrytest.Posted(r, c.old)), c.want...)
		})
	}
}

func onNode(info noderuntime.Info) pod.Options {
	return pod.Options{Node: func() noderuntime.Info { return info }}
}

func TestSimpleRows(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "x", CreationTimestamp: registrytest.Ago(time.Minute)}
	template := &corev1.PodTemplate{ObjectMeta: meta, Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: registrytest.Pod().Spec,
	}}
	for sentence, c := range map[string]struct {
		kind kinds.Resource
		obj  runtime.Object
		want []any
	}{
		"a config map counts its keys":      {ConfigMap(), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"a": ""}, BinaryData: map[string][]byte{"b": nil}}, []any{"x", int64(2), "60s"}},
		"a secret counts its keys":          {Secret(), &corev1.Secret{ObjectMeta: meta, Type: "Opaque", Data: map[string][]byte{"b": nil}}, []any{"x", "Opaque", int64(1), "60s"}},
		"an account counts its secrets":     {ServiceAccount(), &corev1.ServiceAccount{ObjectMeta: meta}, []any{"x", int64(0), "60s"}},
		"a namespace tells its phase":       {Namespace(), &corev1.Namespace{ObjectMeta: meta, Status: corev1.NamespaceStatus{Phase: "Active"}}, []any{"x", "Active", "60s"}},
		"a lease tells who has it":          {Lease(), &coordinationv1.Lease{ObjectMeta: meta, Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("me")}}, []any{"x", "me", "60s"}},
		"a template tells what is in it":    {PodTemplate(pod.Options{}), template, []any{"x", "main", "perl:5.34.0", "a=b"}},
		"an object without a time is young": {ConfigMap(), &corev1.ConfigMap{}, []any{"", int64(0), "<unknown>"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.kind.Row(c.obj, registrytest.Now)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
