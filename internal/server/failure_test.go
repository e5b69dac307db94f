package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/internal/store"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/smalldisk"
)

func TestAServerWhoseStoreCannotWriteStopsAndSaysWhy(t *testing.T) {
	dir := t.TempDir()
	s, err := server.Start(t.Context(), server.Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	breakFile(t, filepath.Join(dir, "etcd", "member", "wal", "0000000000000000-0000000000000000.wal"))
	go func() {
		_, _ = clientOf(t, s).CoreV1().ConfigMaps("default").Create(t.Context(), aMap("a"), metav1.CreateOptions{})
	}()
	if err := s.Wait(); err == nil || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "make room") {
		t.Errorf("it stopped with %v, want what is full and what to do", err)
	}
}

// breakFile lets all writes of this process to an open file fail.
func breakFile(t *testing.T, path string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for _, e := range fds {
		fd, err := strconv.Atoi(e.Name())
		if target, _ := os.Readlink("/proc/self/fd/" + e.Name()); err != nil || target != path {
			continue
		}
		if err := unix.Dup3(int(full.Fd()), fd, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		broken++
	}
	if broken == 0 {
		t.Fatalf("%s is not open", path)
	}
}

func aMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func TestAServerGoesOnWhileItsDiskIsFull(t *testing.T) {
	smalldisk.Run(t, 300, func(disk string) {
		s, stop := start(t, server.Options{DataDir: filepath.Join(disk, "data")})
		defer stop()
		maps := clientOf(t, s).CoreV1().ConfigMaps("default")
		if _, err := maps.Create(t.Context(), aMap("before"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		others := filepath.Join(disk, "others")
		smalldisk.FillUp(t, others)

		n := 0
		create := func() error {
			n++
			_, err := maps.Create(t.Context(), aMap(fmt.Sprint("m", n)), metav1.CreateOptions{})
			return err
		}
		await.Until(t, "a refusal", func() bool { return apierrors.ReasonForError(create()) == store.ReasonFull })
		if err := maps.Delete(t.Context(), "before", metav1.DeleteOptions{}); err != nil {
			t.Errorf("deletion: %v", err)
		}
		if err := os.Remove(others); err != nil {
			t.Fatal(err)
		}
		await.Until(t, "room", func() bool { return create() == nil })
	})
}

func TestAServerStartsThoughAnInterruptedPullHasFilledTheDisk(t *testing.T) {
	smalldisk.Run(t, 80, func(disk string) {
		images := filepath.Join(disk, "images")
		if err := os.MkdirAll(filepath.Join(images, "work"), 0o700); err != nil {
			t.Fatal(err)
		}
		part := filepath.Join(images, "work", "sha256-left.part")
		smalldisk.FillUp(t, part)
		_, stop := start(t, server.Options{DataDir: filepath.Join(disk, "data"), ImageDir: images, Node: true})
		if _, err := os.Stat(part); !os.IsNotExist(err) {
			t.Errorf("the part is still there: %v", err)
		}
		stop()
	})
}
