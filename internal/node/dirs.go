package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// The node's folder:
//
//	pods/<uid>/volumes/<name>                           until the pod has ended
//	logs/<namespace>_<pod>_<uid>/<container>/<n>.log    until a moment after the pod is deleted; see keeper
const (
	podsDir = "pods"
	logsDir = "logs"
)

func (l *Logs) logDir(namespace, name string, uid types.UID) string {
	return filepath.Join(l.dir, logsDir, namespace+"_"+name+"_"+string(uid))
}

func (l *Logs) logPath(api *corev1.Pod, container string, attempt int32) string {
	return filepath.Join(l.logDir(api.Namespace, api.Name, api.UID), container, fmt.Sprintf("%d.log", attempt))
}

// sweepDirs removes what pods that have ended or are gone have left, from a time when the node did not see to them.
func (n *Node) sweepDirs() error {
	there, living := map[string]bool{}, map[string]bool{}
	for _, obj := range n.Client.Pods().Informer().GetStore().List() {
		pod := obj.(*corev1.Pod)
		there[string(pod.UID)], living[string(pod.UID)] = true, !lifecycle.Final(pod.Status.Phase)
	}
	for kind, stays := range map[string]map[string]bool{podsDir: living, logsDir: there} {
		entries, err := os.ReadDir(filepath.Join(n.Dir, kind))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("node: look for left-over folders: %w", err)
		}
		for _, e := range entries {
			uid := e.Name()[strings.LastIndexByte(e.Name(), '_')+1:]
			switch {
			case !e.IsDir() || stays[uid] || n.pods.get(types.UID(uid)) != nil:
			case kind == logsDir:
				n.keeper.queue.Add(keepTask{folder: e.Name()})
			default:
				n.trash.Add(rubbish{of: kind, folder: e.Name()})
			}
		}
	}
	n.keeper.queue.Add(keepTask{})
	return nil
}
