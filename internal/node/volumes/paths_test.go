package volumes

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

func TestHostPath(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	fifo, dangling := filepath.Join(dir, "fifo"), filepath.Join(dir, "dangling")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), dangling); err != nil {
		t.Fatal(err)
	}
	for sentence, c := range map[string]struct {
		path string
		kind corev1.HostPathType
		ok   bool
	}{
		"no type takes what is there":             {dir, corev1.HostPathUnset, true},
		"no type does not take what is not there": {filepath.Join(dir, "none"), corev1.HostPathUnset, false},
		"a directory is a directory":              {dir, corev1.HostPathDirectory, true},
		"a file is no directory":                  {file, corev1.HostPathDirectory, false},
		"a file is a file":                        {file, corev1.HostPathFile, true},
		"a directory is no file":                  {dir, corev1.HostPathFile, false},
		"a directory is made":                     {filepath.Join(dir, "new", "dir"), corev1.HostPathDirectoryOrCreate, true},
		"a file is made":                          {filepath.Join(dir, "newfile"), corev1.HostPathFileOrCreate, true},
		"a file is not made where a directory is": {dir, corev1.HostPathFileOrCreate, false},
		"a file is not made where a FIFO is":      {fifo, corev1.HostPathFileOrCreate, false},
		"a file is not made where a link says":    {dangling, corev1.HostPathFileOrCreate, false},
		"a socket is a socket":                    {socket, corev1.HostPathSocket, true},
		"a file is no socket":                     {file, corev1.HostPathSocket, false},
		"a character device is one":               {os.DevNull, corev1.HostPathCharDev, true},
		"a character device is no block device":   {os.DevNull, corev1.HostPathBlockDev, false},
		"an unknown type is refused":              {dir, corev1.HostPathType("Door"), false},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := ensureHostPath(&corev1.HostPathVolumeSource{Path: c.path, Type: &c.kind})
			if (err == nil) != c.ok {
				t.Errorf("error %v, want ok %t", err, c.ok)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	pod := func(v corev1.VolumeSource, m corev1.VolumeMount) *corev1.Pod {
		m.Name, m.MountPath = "v", "/v"
		return &corev1.Pod{Spec: corev1.PodSpec{
			Volumes:    []corev1.Volume{{Name: "v", VolumeSource: v}},
			Containers: []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{m}}},
		}}
	}
	memory := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}
	empty := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	can := runtime.Info{CanMount: true}
	for sentence, c := range map[string]struct {
		pod  *corev1.Pod
		info runtime.Info
		ok   bool
	}{
		"an emptyDir is fine":                  {pod(empty, corev1.VolumeMount{}), can, true},
		"nothing can be mounted here":          {pod(empty, corev1.VolumeMount{}), runtime.Info{WhyNoMount: "no"}, false},
		"a pod without mounts needs no mounts": {&corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v"}}}}, runtime.Info{}, true},
		"memory as a whole is fine":            {pod(memory, corev1.VolumeMount{}), can, true},
		"part of a memory volume is too":       {pod(memory, corev1.VolumeMount{SubPath: "x"}), can, true},
		"huge pages are not":                   {pod(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: "HugePages"}}, corev1.VolumeMount{}), can, false},
		"network volumes are not":              {pod(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}, corev1.VolumeMount{}), can, false},
		"a projected service account token is not": {pod(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"}}},
		}}, corev1.VolumeMount{}), can, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if err := Check(c.pod, c.info); (err == nil) != c.ok {
				t.Errorf("error %v, want ok %t", err, c.ok)
			}
		})
	}
}

func TestSelection(t *testing.T) {
	data := map[string][]byte{"a": []byte("1"), "b": []byte("2")}
	s := selection{items: []corev1.KeyToPath{{Key: "a", Path: "x/y", Mode: ptr.To(int32(0o400))}}, mode: ptr.To(int32(0o600))}
	got, err := s.pick(data, "configmap c")
	if err != nil || len(got) != 1 || string(got["x/y"].data) != "1" || got["x/y"].mode != 0o400 {
		t.Errorf("picked %+v, %v", got, err)
	}
	s.items[0].Key = "none"
	if _, err := s.pick(data, "configmap c"); err == nil {
		t.Error("a missing key was not missed")
	}
	s.optional = ptr.To(true)
	if got, err := s.pick(data, "configmap c"); err != nil || len(got) != 0 {
		t.Errorf("an optional key that is missing gave %+v, %v", got, err)
	}
}
