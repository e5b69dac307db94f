package resources_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/node/resources"
)

var t0 = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

func cpu(milli int64) resources.Request { return resources.Request{MilliCPU: milli, Pods: 1} }

func TestAdmitWaiting(t *testing.T) {
	type pod struct {
		name    string
		request resources.Request
		age     int
	}
	for sentence, c := range map[string]struct {
		held    []pod
		waiting []pod
		want    []types.UID
		explain map[types.UID]string
	}{
		"what fits is admitted, the oldest first": {
			waiting: []pod{{"young", cpu(1000), 1}, {"old", cpu(1000), 5}},
			want:    []types.UID{"old", "young"},
		},
		"of the same second the first to come is the first": {
			waiting: []pod{{"b", cpu(0), 1}, {"a", cpu(0), 1}},
			want:    []types.UID{"b", "a"},
		},
		"a younger pod takes nothing of what an older one waits for": {
			held:    []pod{{"running", cpu(3000), 9}},
			waiting: []pod{{"big", cpu(2000), 5}, {"small", cpu(500), 1}},
			want:    nil,
			explain: map[types.UID]string{
				"big":   "cpu: 2 requested, 1 free of 4",
				"small": "older pods wait for the same resources and go first",
			},
		},
		"a younger pod that wants none of it goes ahead": {
			held:    []pod{{"running", cpu(3000), 9}},
			waiting: []pod{{"big", cpu(2000), 5}, {"none", cpu(0), 1}},
			want:    []types.UID{"none"},
		},
		"disk space is shared out too": {
			held:    []pod{{"running", resources.Request{Storage: 6 << 30, Pods: 1}, 9}},
			waiting: []pod{{"large", resources.Request{Storage: 5 << 30, Pods: 1}, 5}, {"huge", resources.Request{Storage: 11 << 30, Pods: 1}, 4}},
			explain: map[types.UID]string{
				"large": "ephemeral-storage: 5Gi requested, 4Gi free of 10Gi",
				"huge":  "ephemeral-storage: 11Gi requested, the machine has only 10Gi",
			},
		},
		"a pod that will never fit blocks no other pod": {
			waiting: []pod{{"huge", cpu(5000), 5}, {"small", cpu(500), 1}},
			want:    []types.UID{"small"},
			explain: map[types.UID]string{"huge": "cpu: 5 requested, the machine has only 4"},
		},
		"memory counts too": {
			held:    []pod{{"running", resources.Request{Memory: 6 << 30, Pods: 1}, 9}},
			waiting: []pod{{"wants", resources.Request{Memory: 4 << 30, MilliCPU: 8000, Pods: 1}, 1}},
			explain: map[types.UID]string{"wants": "cpu: 8 requested, the machine has only 4; memory: 4Gi requested, 2Gi free of 8Gi"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			q := resources.NewQueue(resources.Request{MilliCPU: 4000, Memory: 8 << 30, Storage: 10 << 30, Pods: 5})
			for _, p := range c.held {
				q.Reserve(types.UID(p.name), p.request)
			}
			for _, p := range c.waiting {
				q.Wait(types.UID(p.name), p.request, t0.Add(-time.Duration(p.age)*time.Second))
			}
			if diff := cmp.Diff(c.want, q.AdmitWaiting()); diff != "" {
				t.Errorf("admitted (-want +got):\n%s", diff)
			}
			for uid, want := range c.explain {
				if got := q.Explain(uid); got != want {
					t.Errorf("%s: %q, want %q", uid, got, want)
				}
			}
		})
	}
}

func TestRequestOf(t *testing.T) {
	list := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{
			{Name: "sidecar", RestartPolicy: &always, Resources: list("100m")},
			{Name: "init", Resources: list("3")},
		},
		Containers: []corev1.Container{{Name: "a", Resources: list("1")}, {Name: "b", Resources: list("500m")}},
	}}
	if got := resources.RequestOf(pod); got != (resources.Request{MilliCPU: 3100, Pods: 1}) {
		t.Errorf("request %+v: the init container beside the sidecar wants most", got)
	}
}

// Whatever pods come and go, no resource is given out twice, and in the end every pod has had its turn.
func TestAnyQueue(t *testing.T) {
	all := resources.Request{MilliCPU: 4000, Memory: 4000, Pods: 6}
	rapid.Check(t, func(t *rapid.T) {
		q := resources.NewQueue(all)
		requests := map[types.UID]resources.Request{}
		var held, waiting []types.UID
		place := func() {
			for _, uid := range q.AdmitWaiting() {
				held = append(held, uid)
				waiting = slices.DeleteFunc(waiting, func(w types.UID) bool { return w == uid })
			}
		}
		for i := range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"come", "come", "leave"}).Draw(t, "act") {
			case "come":
				uid := types.UID(fmt.Sprint(i))
				requests[uid] = resources.Request{
					MilliCPU: rapid.Int64Range(0, 4).Draw(t, "cpu") * 1000, Memory: rapid.Int64Range(0, 4).Draw(t, "memory") * 1000, Pods: 1,
				}
				q.Wait(uid, requests[uid], t0.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "age"))*time.Second))
				waiting = append(waiting, uid)
			case "leave":
				if len(held) > 0 {
					q.Release(held[0])
					held = held[1:]
				}
			}
			place()
			checkSum(t, all, held, requests)
		}
		for len(held) > 0 {
			q.Release(held[0])
			held = held[1:]
			place()
			checkSum(t, all, held, requests)
		}
		if len(waiting) > 0 {
			t.Fatalf("%v wait for ever", waiting)
		}
	})
}

func checkSum(t *rapid.T, all resources.Request, held []types.UID, requests map[types.UID]resources.Request) {
	var sum resources.Request
	for _, uid := range held {
		r := requests[uid]
		sum.MilliCPU, sum.Memory, sum.Pods = sum.MilliCPU+r.MilliCPU, sum.Memory+r.Memory, sum.Pods+r.Pods
	}
	if sum.MilliCPU > all.MilliCPU || sum.Memory > all.Memory || sum.Pods > all.Pods {
		t.Fatalf("gave out %+v of %+v", sum, all)
	}
}
