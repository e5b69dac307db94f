package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/await"
)

var jobs = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}

// indexed returns a Job with one pod for each index. Every pod must run exactly once, since a pod outlives the server
// that started it.
func indexed(l ledger, name string, pods, atOnce int32, work string) *batchv1.Job {
	template := l.pods(work, batchv1.JobNameLabel)
	c := &template.Spec.Containers[0]
	c.Env = append(c.Env, corev1.EnvVar{Name: "JOB_POD_INDEX", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + batchv1.JobCompletionIndexAnnotation + "']"}}})
	c.VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: "/stint-scratch"}, {Name: "memory", MountPath: "/stint-memory"}}
	template.Spec.Volumes = []corev1.Volume{
		{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "memory", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
	}
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			Completions: ptr.To(pods), Parallelism: ptr.To(atOnce), BackoffLimit: ptr.To[int32](0),
			CompletionMode: ptr.To(batchv1.IndexedCompletion), Template: template,
		},
	}
}

func TestEveryPodRunsOnceAndLeavesNothingWhateverKillsTheServer(t *testing.T) {
	eachSeed(t, everyPodRunsOnce)
}

func everyPodRunsOnce(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	s := startServer(t)
	l := newLedger(t, t.TempDir(), "jobs")
	whole := map[string]int32{"many": 60, "long": 3}
	s.create(t, jobs, indexed(l, "many", whole["many"], 3, "echo done; date >/stint-scratch/when; sleep 0.2"))
	s.create(t, jobs, indexed(l, "long", whole["long"], 3, "date >/stint-memory/when; sleep 4"))

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	rounds := make(chan error, 1)
	template := plain(t, indexed(l, "gone", 2, 2, "sleep 1000"))
	go func() { rounds <- s.createAndDelete(ctx, t.Context(), template) }()
	s.killAgainAndAgain(t, (*crashKills+1)/2, random)
	stop()
	if err := <-rounds; err != nil {
		t.Error(err)
	}
	for name, pods := range whole {
		s.complete(t, name, pods)
	}
	checkOnce(t, l.read(t), whole)
	for name := range whole {
		if err := s.remove(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	s.nothingLeft(t, l)
}

// createAndDelete creates Jobs and deletes them while their pods run, until ctx ends. Its requests do not end with ctx but
// with testCtx, so that no Job is left behind.
func (s *server) createAndDelete(ctx, testCtx context.Context, template *unstructured.Unstructured) error {
	pause := time.NewTicker(time.Second)
	defer pause.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		job := template.DeepCopy()
		job.SetName(fmt.Sprintf("gone-%d", n))
		if err := s.make(testCtx, jobs, job); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		if err := s.remove(testCtx, job.GetName()); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) remove(ctx context.Context, name string) error {
	return s.insist(ctx, jobs, func(ctx context.Context, client dynamic.ResourceInterface) error {
		err := client.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// complete waits until a Job is complete and has counted every pod once.
func (s *server) complete(t *testing.T, name string, pods int32) {
	t.Helper()
	var job batchv1.Job
	await.Until(t, "Job "+name+" to be complete", func() bool {
		err := s.insist(t.Context(), jobs, func(ctx context.Context, client dynamic.ResourceInterface) error {
			found, err := client.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			job = batchv1.Job{}
			return runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, &job)
		})
		if err != nil {
			t.Fatal(err)
		}
		return job.Status.CompletionTime != nil
	}, func() string { return fmt.Sprintf("status: %+v", job.Status) })
	if job.Status.Succeeded != pods || job.Status.Failed != 0 {
		t.Errorf("Job %s: %+v", name, job.Status)
	}
}

// checkOnce checks that each index of the Jobs ran once, from start to end.
func checkOnce(t *testing.T, entries []entry, whole map[string]int32) {
	t.Helper()
	ran := map[string]int{}
	for _, e := range entries {
		if whole[e.tag] == 0 {
			continue
		}
		ran[e.tag+" "+e.index]++
		if e.end.IsZero() {
			t.Errorf("pod %s of %s never ended", e.index, e.tag)
		}
	}
	for name, pods := range whole {
		for i := range pods {
			if n := ran[fmt.Sprintf("%s %d", name, i)]; n != 1 {
				t.Errorf("pod %d of %s ran %d times", i, name, n)
			}
		}
	}
}

// nothingLeft waits until the pods have left no process, mount or file.
func (s *server) nothingLeft(t *testing.T, l ledger) {
	t.Helper()
	var left []string
	await.Until(t, "nothing to be left of the pods", func() bool {
		left = slices.Concat(processesOf(l), s.folders(), s.mounts())
		return len(left) == 0
	}, func() string { return fmt.Sprintf("there are %v", left) })
}

// processesOf returns the processes whose command line has the path of the ledger.
func processesOf(l ledger) []string {
	var found []string
	environments, _ := filepath.Glob("/proc/[0-9]*/environ") //nolint:errcheck // The pattern is well formed.
	for _, path := range environments {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err == nil && bytes.Contains(text, []byte(l.path)) {
			found = append(found, filepath.Dir(path))
		}
	}
	return found
}

func (s *server) folders() []string {
	var found []string
	for _, kind := range []string{"pods", "logs"} {
		entries, err := os.ReadDir(filepath.Join(s.dir, kind))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			found = append(found, err.Error())
		}
		for _, e := range entries {
			if e.IsDir() {
				found = append(found, filepath.Join(kind, e.Name()))
			}
		}
	}
	return found
}

// mounts returns the mounts below the data directory and below the process host's directory.
func (s *server) mounts() []string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return []string{err.Error()}
	}
	pointer, err := os.ReadFile(filepath.Join(s.dir, "process-runtime"))
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, s.dir) || strings.Contains(line, strings.TrimSpace(string(pointer))) {
			found = append(found, line)
		}
	}
	return found
}
