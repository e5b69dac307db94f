package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
)

func createClaim(t *testing.T, c kubernetes.Interface, name string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
	}}
	if _, err := c.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// createWith creates a Job whose shell finds the claim at $V.
func createWith(t *testing.T, c kubernetes.Interface, name, claim, script string, change func(*batchv1.Job)) {
	t.Helper()
	j := job(name, "sh", "-c", "cd $V && "+script)
	pod := &j.Spec.Template.Spec
	pod.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}}
	mount := t.TempDir()
	pod.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: mount}}
	pod.Containers[0].Env = []corev1.EnvVar{{Name: "V", Value: mount}}
	if change != nil {
		change(j)
	}
	if _, err := c.BatchV1().Jobs("default").Create(t.Context(), j, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// volumeOf returns the volume that a claim is bound to.
func volumeOf(t *testing.T, c kubernetes.Interface, claim string) *corev1.PersistentVolume {
	t.Helper()
	bound, err := c.CoreV1().PersistentVolumeClaims("default").Get(t.Context(), claim, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pv, err := c.CoreV1().PersistentVolumes().Get(t.Context(), bound.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pv
}

func deleteClaim(t *testing.T, c kubernetes.Interface, name string) {
	t.Helper()
	if err := c.CoreV1().PersistentVolumeClaims("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func untilGone(t *testing.T, what string, get func() error) {
	t.Helper()
	await.Until(t, what+" goes", func() bool { return apierrors.IsNotFound(get()) }, func() string { return what + " is still there" })
}

func TestTheDataOfAClaimStaysUntilTheClaimIsDeleted(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	decoy := filepath.Join(outside, "kept")
	if err := os.WriteFile(decoy, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, stop := start(t, server.Options{DataDir: dir, Node: true})
	c := clientOf(t, s)
	createClaim(t, c, "data")
	createWith(t, c, "writes", "data", "echo of the first > file && ln -s "+outside+" link", nil)
	complete(t, c, "writes")
	pv := volumeOf(t, c, "data")
	folder := filepath.Join(dir, "persistentvolumes", pv.Name)
	if pv.Spec.Local == nil || pv.Spec.Local.Path != folder {
		t.Errorf("the volume is %+v, want local at %s", pv.Spec.PersistentVolumeSource, folder)
	}
	stop()

	s, _ = start(t, server.Options{DataDir: dir, Node: true})
	c = clientOf(t, s)
	createWith(t, c, "reads", "data", "cat file", nil)
	complete(t, c, "reads")
	if got := logOf(t, c, "reads"); got != "of the first\n" {
		t.Errorf("the next Job, of the next server, reads %q", got)
	}
	deleteClaim(t, c, "data")
	untilGone(t, "the volume", func() error {
		_, err := c.CoreV1().PersistentVolumes().Get(t.Context(), pv.Name, metav1.GetOptions{})
		return err
	})
	if entries, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
	if _, err := os.Stat(decoy); err != nil {
		t.Errorf("what a link in the volume leads to: %v", err)
	}
}

func TestADeletedClaimStaysWhileAPodUsesIt(t *testing.T) {
	dir := t.TempDir()
	gate := filepath.Join(t.TempDir(), "gate")
	s, stop := start(t, server.Options{DataDir: dir, Node: true})
	c := clientOf(t, s)
	createClaim(t, c, "data")
	// The second container starts when the claim is being deleted already.
	createWith(t, c, "uses", "data", "cat file", func(j *batchv1.Job) {
		pod := &j.Spec.Template.Spec
		first := *pod.Containers[0].DeepCopy()
		first.Name, first.Command = "first", []string{"sh", "-c", "cd $V && echo there > file; until [ -e " + gate + " ]; do sleep 0.05; done"}
		pod.InitContainers = []corev1.Container{first}
	})
	await.Until(t, "the first container has written", func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "persistentvolumes", "*", "file"))
		return len(found) == 1
	}, func() string { return "no file" })
	pv := volumeOf(t, c, "data")
	deleteClaim(t, c, "data")
	stop()

	s, _ = start(t, server.Options{DataDir: dir, Node: true})
	c = clientOf(t, s)
	createWith(t, c, "late", "data", "true", nil)
	await.Until(t, "another pod waits", func() bool {
		pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=late"})
		if err != nil {
			t.Fatal(err)
		}
		return len(pods.Items) == 1 && len(pods.Items[0].Status.Conditions) > 0 &&
			strings.Contains(pods.Items[0].Status.Conditions[0].Message, "is being deleted")
	}, func() string { return "it does not" })
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	complete(t, c, "uses")
	if got := logOf(t, c, "uses"); got != "there\n" {
		t.Errorf("it read %q", got)
	}
	untilGone(t, "the volume", func() error {
		_, err := c.CoreV1().PersistentVolumes().Get(t.Context(), pv.Name, metav1.GetOptions{})
		return err
	})
}

func TestARetainedVolumeOutlivesItsClaim(t *testing.T) {
	dir := t.TempDir()
	s, _ := start(t, server.Options{DataDir: dir, Node: true})
	c := clientOf(t, s)
	createClaim(t, c, "data")
	createWith(t, c, "writes", "data", "echo kept > file", nil)
	complete(t, c, "writes")
	pv := volumeOf(t, c, "data")
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	if _, err := c.CoreV1().PersistentVolumes().Update(t.Context(), pv, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	deleteClaim(t, c, "data")
	await.Until(t, "the volume is released", func() bool {
		now, err := c.CoreV1().PersistentVolumes().Get(t.Context(), pv.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return now.Status.Phase == corev1.VolumeReleased
	}, func() string { return "it is not" })
	if err := c.CoreV1().PersistentVolumes().Delete(t.Context(), pv.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	untilGone(t, "the volume", func() error {
		_, err := c.CoreV1().PersistentVolumes().Get(t.Context(), pv.Name, metav1.GetOptions{})
		return err
	})
	if data, err := os.ReadFile(filepath.Join(dir, "persistentvolumes", pv.Name, "file")); err != nil || string(data) != "kept\n" {
		t.Errorf("its data is %q, %v", data, err)
	}
}

// A container can put a link into the volume. The next one does not mount what it leads to.
func TestALinkInAVolumeLeadsNoSubPathOutside(t *testing.T) {
	outside := t.TempDir()
	s, _ := start(t, server.Options{DataDir: t.TempDir(), Node: true})
	c := clientOf(t, s)
	createClaim(t, c, "data")
	createWith(t, c, "links", "data", "ln -s "+outside+" link", nil)
	complete(t, c, "links")
	createWith(t, c, "mounts", "data", "touch escaped", func(j *batchv1.Job) {
		j.Spec.Template.Spec.Containers[0].VolumeMounts[0].SubPath = "link"
	})
	await.Until(t, "the container has an outcome", func() bool {
		pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=mounts"})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods.Items {
			for _, s := range p.Status.ContainerStatuses {
				if s.State.Terminated != nil || s.State.Waiting != nil && s.State.Waiting.Reason != "ContainerCreating" {
					return true
				}
			}
		}
		return false
	}, func() string { return "none" })
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside are %v, %v", entries, err)
	}
}
