package podlogs

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/node/logs"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Store reads what containers have printed.
type Store struct {
	dir string
	// live are the attempts that the node knows of; nil where no node runs.
	live Attempts
	// synced tell that the node has heard of its pods.
	synced []cache.InformerSynced
}

// Attempts has what is known of attempts at containers that the statuses of their pods may not say yet.
type Attempts interface {
	// Newest returns the number of the newest attempt at a container, if there was one.
	Newest(pod types.UID, container string) (attempt int32, started bool)
	// Ended returns a channel that is closed once an attempt has ended, unless its pod is not known.
	Ended(id runtime.ID) (ended <-chan struct{}, known bool)
}

// Stored reads the logs that nodes have left in a data directory, where none runs now.
func Stored(dataDir string) *Store { return Of(dataDir, noAttempts{}) }

// Of reads the logs of a node with this data directory. It answers once the informers of the node have synced.
func Of(dataDir string, live Attempts, synced ...cache.InformerSynced) *Store {
	return &Store{dir: filepath.Join(dataDir, "logs"), live: live, synced: synced}
}

// noAttempts are the attempts where no node runs.
type noAttempts struct{}

// Newest knows no attempt.
func (noAttempts) Newest(types.UID, string) (int32, bool) { return 0, false }

// Ended knows no attempt.
func (noAttempts) Ended(runtime.ID) (<-chan struct{}, bool) { return nil, false }

// Path is the file that an attempt at a container prints to.
func (s *Store) Path(pod *corev1.Pod, container string, attempt int32) string {
	return filepath.Join(s.ContainerDir(pod, container), fileOf(attempt))
}

// ContainerDir is where all logs of a container are.
func (s *Store) ContainerDir(pod *corev1.Pod, container string) string {
	return filepath.Join(s.dir, folderOf(pod.Namespace, pod.Name, pod.UID), container)
}

func fileOf(attempt int32) string { return fmt.Sprintf("%d.log", attempt) }

func folderOf(namespace, pod string, uid types.UID) string {
	return namespace + "_" + pod + "_" + string(uid)
}

// splitFolder takes the name of a pod's folder apart.
func splitFolder(folder string) (namespace, pod string, uid types.UID) {
	namespace, rest, _ := strings.Cut(folder, "_")
	pod, _, _ = strings.Cut(rest, "_")
	return namespace, pod, types.UID(folder[strings.LastIndexByte(folder, '_')+1:])
}

// fallbackLines and fallbackBytes bound what of a log becomes the message of a container that left none.
const (
	fallbackLines = 80
	fallbackBytes = 2048
)

// Tail is the end of the log of an attempt: the message of a container that left none.
func (s *Store) Tail(pod *corev1.Pod, container string, attempt int32) (string, error) {
	return logs.Last(s.Path(pod, container, attempt), fallbackLines, fallbackBytes)
}

// now is the one place where the package asks the clock for its decisions.
func now() time.Time { return time.Now() }
