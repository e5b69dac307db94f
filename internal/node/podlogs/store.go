package podlogs

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/logs"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Store reads what containers have printed.
type Store struct {
	dir string
	// live are the attempts that the node knows of; noAttempts if no node runs.
	live Attempts
	// known is closed once live knows the pods that existed when the node started.
	known <-chan struct{}
}

// Attempts is what a node knows of attempts, which the statuses of their pods may not show yet.
type Attempts interface {
	// Newest returns the number of the newest attempt at a container, if there was one.
	Newest(pod types.UID, container string) (attempt int32, started bool)
	// Ended returns a channel that is closed once an attempt has ended. Known is false if the node does not know the
	// pod.
	Ended(id runtime.ID) (ended <-chan struct{}, known bool)
}

// Stored returns the store of a data directory whose node does not run.
func Stored(dataDir string) *Store { return Of(dataDir, noAttempts{}, closedChan) }

// Of returns the store of a node with this data directory. It answers once known is closed: before, the node knows of no running
// container, and a follower would end at once.
func Of(dataDir string, live Attempts, known <-chan struct{}) *Store {
	return &Store{dir: filepath.Join(dataDir, "logs"), live: live, known: known}
}

func (s *Store) wait(ctx context.Context) error {
	select {
	case <-s.known:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// noAttempts are the attempts while no node runs.
type noAttempts struct{}

// Newest knows no attempt.
func (noAttempts) Newest(types.UID, string) (int32, bool) { return 0, false }

// Ended knows no attempt.
func (noAttempts) Ended(runtime.ID) (<-chan struct{}, bool) { return nil, false }

// Path returns the file that an attempt at a container prints to.
func (s *Store) Path(pod *corev1.Pod, container string, attempt int32) string {
	return filepath.Join(s.ContainerDir(pod, container), fileOf(attempt))
}

// ContainerDir returns the folder of all logs of a container.
func (s *Store) ContainerDir(pod *corev1.Pod, container string) string {
	return filepath.Join(s.dir, folderOf(pod.Namespace, pod.Name, pod.UID), container)
}

func fileOf(attempt int32) string { return fmt.Sprintf("%d.log", attempt) }

func folderOf(namespace, pod string, uid types.UID) string {
	return namespace + "_" + pod + "_" + string(uid)
}

// splitFolder parses the name of a pod's folder.
func splitFolder(folder string) (namespace, pod string, uid types.UID) {
	namespace, rest, _ := strings.Cut(folder, "_")
	pod, _, _ = strings.Cut(rest, "_")
	return namespace, pod, types.UID(folder[strings.LastIndexByte(folder, '_')+1:])
}

// fallbackLines and fallbackBytes bound the part of a log that becomes a termination message.
const (
	fallbackLines = 80
	fallbackBytes = 2048
)

// Tail returns the end of the log of an attempt, to be its termination message.
func (s *Store) Tail(pod *corev1.Pod, container string, attempt int32) (string, error) {
	return logs.Last(s.Path(pod, container, attempt), fallbackLines, fallbackBytes)
}

// now is the only place where the package reads the clock for its decisions.
func now() time.Time { return time.Now() }
