package volumes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A container that could write there would lose what it wrote at the next update.
func TestVolumesThatShowObjectsAreReadOnly(t *testing.T) {
	labels := []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}
	downward := corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: labels}}
	projected := corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: labels}},
	}}}
	scratch := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	for name, c := range map[string]struct {
		source   corev1.VolumeSource
		readOnly bool
		want     bool
	}{
		"the downward API, whatever the mount says": {downward, false, true},
		"a projection, whatever the mount says":     {projected, false, true},
		"an emptyDir can be written to":             {scratch, false, false},
		"an emptyDir that is mounted read-only":     {scratch, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			container := corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v", ReadOnly: c.readOnly}}}
			pod := &corev1.Pod{Spec: corev1.PodSpec{
				Volumes: []corev1.Volume{{Name: "v", VolumeSource: c.source}}, Containers: []corev1.Container{container},
			}}
			mounts, err := Maker{}.Mounts(t.Context(), Pod{Pod: pod, Dir: t.TempDir()}, &container, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(mounts) != 1 || mounts[0].ReadOnly != c.want {
				t.Errorf("mounts %+v, want one with readOnly %v", mounts, c.want)
			}
		})
	}
}

// Mounts checks only the text of a subPath, whatever exists on the disk. The runtime checks where it leads.
func TestSubPath(t *testing.T) {
	for sub, want := range map[string]string{"a": "a", "a/./b": "a/b", "..": "", "../x": "", "/etc": "", "a/../..": ""} {
		t.Run(sub, func(t *testing.T) {
			container := corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v", SubPath: sub}}}
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container}, Volumes: []corev1.Volume{
				{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			}}}
			dir := t.TempDir()
			mounts, err := Maker{}.Mounts(t.Context(), Pod{Pod: pod, Dir: dir}, &container, nil)
			if want == "" {
				if err == nil || !strings.Contains(err.Error(), "must be a relative path inside the volume") {
					t.Errorf("mounts %+v, error %v", mounts, err)
				}
				return
			}
			if err != nil || mounts[0].HostPath != filepath.Join(dir, "v") || mounts[0].SubPath != want {
				t.Errorf("mounts %+v, error %v, want the part %s of the volume", mounts, err, want)
			}
		})
	}
}

// In a cluster the container runtime makes the directory. Here a read-only mount makes nothing on the machine.
func TestAMissingHostPathIsEmptyWhenMountedReadOnly(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	directory := corev1.HostPathDirectory
	for name, c := range map[string]struct {
		source   corev1.HostPathVolumeSource
		readOnly bool
		want     bool
	}{
		"read-only":                 {corev1.HostPathVolumeSource{Path: missing}, true, true},
		"to be written to":          {corev1.HostPathVolumeSource{Path: missing}, false, false},
		"a directory must be there": {corev1.HostPathVolumeSource{Path: missing, Type: &directory}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			container := corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v", ReadOnly: c.readOnly}}}
			pod := &corev1.Pod{Spec: corev1.PodSpec{
				Volumes:    []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &c.source}}},
				Containers: []corev1.Container{container},
			}}
			mounts, err := Maker{}.Mounts(t.Context(), Pod{Pod: pod, Dir: t.TempDir()}, &container, nil)
			if (err == nil) != c.want {
				t.Fatalf("mounts %+v, error %v", mounts, err)
			}
			if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something was made on the machine: %v", err)
			}
			if !c.want {
				return
			}
			if entries, err := os.ReadDir(mounts[0].HostPath); err != nil || len(entries) != 0 || !mounts[0].ReadOnly {
				t.Errorf("%+v shows %v, %v", mounts[0], entries, err)
			}
		})
	}
}

func TestReadOnlyAllTheWayDown(t *testing.T) {
	for mode, want := range map[corev1.RecursiveReadOnlyMode]bool{
		corev1.RecursiveReadOnlyDisabled: false, corev1.RecursiveReadOnlyIfPossible: true, corev1.RecursiveReadOnlyEnabled: true,
	} {
		container := corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v", ReadOnly: true, RecursiveReadOnly: &mode}}}
		pod := &corev1.Pod{Spec: corev1.PodSpec{
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: t.TempDir()}}}},
		}}
		mounts, err := Maker{}.Mounts(t.Context(), Pod{Pod: pod, Dir: t.TempDir()}, &container, nil)
		if err != nil || mounts[0].RecursiveReadOnly != want {
			t.Errorf("%s: %+v, %v", mode, mounts, err)
		}
	}
}
