package results

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/wrappers"
)

// TestContainersThatNeverStarted expects an error for a container that was never started, instead of an empty log.
func TestContainersThatNeverStarted(t *testing.T) {
	job := wrappers.MakeJob("j").Containers("main").Obj()
	job.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "init"}, {Name: "later"},
		{Name: "sidecar", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
	never := "container main was never started in attempt 1 at job j (pod p), since init container init failed: choose container init"
	for name, tt := range map[string]struct {
		container, decisive string
		phase               corev1.PodPhase
		want                string
	}{
		"the main container, after an init container that failed":   {"main", "init", corev1.PodFailed, never},
		"the init container that failed":                            {"init", "init", corev1.PodFailed, ""},
		"the main container, after a sidecar that failed":           {"main", "sidecar", corev1.PodFailed, ""},
		"the main container, which failed":                          {"main", "main", corev1.PodFailed, ""},
		"the main container, while an init container is tried anew": {"main", "init", corev1.PodPending, ""},
		"the main container of a pod that succeeded":                {"main", "main", corev1.PodSucceeded, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := stintv1.PodResult{Pod: "p", Container: tt.decisive, Phase: tt.phase, StartedAt: &metav1.Time{}}
			_, err := Select(job, &stintv1.JobResults{Items: []stintv1.JobResult{{PodResult: pod, Attempts: 1}}}, AttemptQuery{Container: tt.container})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
