package podlogs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/logs"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// AttemptLogs returns what one attempt at a container of a pod has printed, even if the pod is gone. Opts names the
// container. The first attempt is 0; a negative number means the last one that has printed something.
func (s *Store) AttemptLogs(ctx context.Context, namespace string, of *stintv1.PodResult, attempt int32, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	id := runtime.ID{PodUID: of.UID, Container: opts.Container, Attempt: attempt}
	if err := id.Check(); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if !beneath.IsElement(of.Pod) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%q is not the name of a pod", of.Pod))
	}
	dir := filepath.Join(s.dir, folderOf(namespace, of.Pod, of.UID))
	if attempt < 0 {
		id.Attempt = lastIn(filepath.Join(dir, opts.Container))
	}
	ended, known := s.live.Ended(id)
	if !known {
		ended = closedChan
		if err := s.whyGone(dir, of); err != nil {
			return nil, err
		}
	}
	if trimmed(filepath.Join(dir, opts.Container), id.Attempt) {
		return nil, logs.GoneError("the logs of the pod exceeded 64 MiB, so those of its earlier starts were removed")
	}
	path := filepath.Join(dir, opts.Container, fileOf(id.Attempt))
	return logs.Open(ctx, path, ended, logs.OptionsFrom(opts, now())), nil
}

// Incomplete says, for people, what the kept logs of a deleted pod lack; empty if nothing is known to be missing.
func (s *Store) Incomplete(namespace string, of *stintv1.PodResult) string {
	if !beneath.IsElement(of.Pod) || !beneath.IsElement(string(of.UID)) {
		return ""
	}
	owner, _ := readOwner(filepath.Join(s.dir, folderOf(namespace, of.Pod, of.UID))) //nolint:errcheck // Without an owner nothing is known.
	return owner.Incomplete
}

// lastIn returns the number of the newest log in a container's folder.
func lastIn(dir string) int32 {
	last := 0
	entries, _ := os.ReadDir(dir) //nolint:errcheck // Where there is no folder, nothing was printed.
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), ".log")
		if n, err := strconv.Atoi(number); err == nil {
			last = max(last, n)
		}
	}
	return int32(last)
}

// whyGone returns a GoneError if the log was removed, and nil if it exists or the pod has printed nothing.
func (s *Store) whyGone(dir string, of *stintv1.PodResult) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var ended time.Time
	if of.FinishedAt != nil {
		ended = of.FinishedAt.Time
	}
	dropped := readDropped(s.dir)
	switch {
	case dropped.Equal(noLogsRetained):
		return logs.GoneError("this server keeps no logs of deleted pods: --keep-logs is 0")
	case dropped.IsZero() || ended.After(dropped):
		return nil
	}
	return logs.GoneError("the logs of deleted pods exceeded --keep-logs, so the oldest were removed")
}
