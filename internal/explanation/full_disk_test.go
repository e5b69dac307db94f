package explanation_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/explanation"
	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/node/diskpressure"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestAPodThatFillsTheDiskOfItsNodeIsNamed(t *testing.T) {
	server := apiservertest.Shared(t)
	c := server.Client()
	filler, err := c.Jobs().Create(t.Context(), wrappers.MakeJob("filler").Namespace(server.Namespace).Command("true").Obj())
	if err != nil {
		t.Fatal(err)
	}
	pod, err := c.Pods().Create(t.Context(), wrappers.MakePodOf(filler, "filler-1").Obj())
	if err != nil {
		t.Fatal(err)
	}
	node, err := c.Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + server.Namespace}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Nodes().ModifyStatus(t.Context(), node, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue,
			Message: "less than 1.0 GiB are free" + diskpressure.Names([]diskpressure.Holder{{Kind: diskpressure.Pod, Namespace: pod.Namespace,
				Name: pod.Name, Parts: []diskpressure.Part{{What: "emptyDir scratch", Bytes: 12 << 30}}}})}}
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pods().ModifyStatus(t.Context(), pod, func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.Phase = node.Name, corev1.PodRunning
	}); err != nil {
		t.Fatal(err)
	}
	observer := explanation.Observer{Client: c, Settings: job.DefaultSettings(),
		Events: func(context.Context, string, types.UID) ([]corev1.Event, error) { return nil, nil }}
	x, err := observer.Explain(t.Context(), server.Namespace, "filler", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(x.Waits, func(w stintv1.JobWait) bool {
		return strings.Contains(w.Message, "filler-1 (emptyDir scratch 12.0 GiB)")
	}) {
		t.Errorf("it waits for %+v", x.Waits)
	}
}
