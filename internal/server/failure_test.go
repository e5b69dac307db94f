package server_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/smalldisk"
)

func TestAServerWhoseDiskFillsUpStopsAndSaysWhy(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=80m"); err != nil {
		t.Skipf("needs root to mount a small disk: %v", err)
	}
	// The failed store keeps its files open until this process ends.
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	s, err := server.Start(t.Context(), server.Options{DataDir: filepath.Join(disk, "data")})
	if err != nil {
		t.Fatal(err)
	}
	maps := clientOf(t, s).CoreV1().ConfigMaps("default")
	fill(t, filepath.Join(disk, "fill"))
	writing, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for writing.Err() == nil {
			_, _ = maps.Create(writing, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "big-"},
				Data:       map[string]string{"text": strings.Repeat("x", 900_000)},
			}, metav1.CreateOptions{})
		}
	})
	err = s.Wait()
	stop()
	writer.Wait()
	if err == nil || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "make room") {
		t.Errorf("it stopped with %v, want what is full and what to do", err)
	}
}

func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(chunk)
	}
}

func TestAServerStartsThoughAnInterruptedPullHasFilledTheDisk(t *testing.T) {
	smalldisk.Run(t, 80, func(disk string) {
		images := filepath.Join(disk, "images")
		if err := os.MkdirAll(filepath.Join(images, "work"), 0o700); err != nil {
			t.Fatal(err)
		}
		part := filepath.Join(images, "work", "sha256-left.part")
		fill(t, part)
		_, stop := start(t, server.Options{DataDir: filepath.Join(disk, "data"), ImageDir: images, Node: true})
		if _, err := os.Stat(part); !os.IsNotExist(err) {
			t.Errorf("the part is still there: %v", err)
		}
		stop()
	})
}
