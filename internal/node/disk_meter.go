package node

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/localstorage"
	"github.com/stint-dev/stint/internal/node/podlogs"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
	"github.com/stint-dev/stint/internal/podspec"
)

// diskMeter measures how much disk space pods use.
type diskMeter struct {
	runtime runtime.Runtime
	dirs    *podDirs
	logs    *podlogs.Store
}

// usageOf measures the disk usage of a pod with these running containers.
func (m diskMeter) usageOf(ctx context.Context, api *corev1.Pod, running []runtime.ID) (localstorage.Usage, error) {
	var names, dirs []string
	for c := range podspec.Containers(&api.Spec) {
		names = append(names, c.Name)
		dirs = append(dirs, m.logs.ContainerDir(api, c.Name))
	}
	onDisk := volumes.Pod{Pod: api, Dir: m.dirs.volumes(api.UID)}
	var emptyDirs []string
	for i := range api.Spec.Volumes {
		if v := &api.Spec.Volumes[i]; localstorage.OnDisk(v) {
			emptyDirs = append(emptyDirs, v.Name)
			dirs = append(dirs, onDisk.Path(v))
		}
	}
	measured, err := m.runtime.Measure(ctx, running, dirs)
	usage := localstorage.Usage{Roots: map[string]int64{}, Logs: map[string]int64{}, EmptyDirs: map[string]int64{}}
	if err != nil {
		return usage, err
	}
	for i, id := range running {
		usage.Roots[id.Container] += measured.Roots[i]
	}
	for i, name := range names {
		usage.Logs[name] = measured.Dirs[i]
	}
	for i, name := range emptyDirs {
		usage.EmptyDirs[name] = measured.Dirs[len(names)+i]
	}
	return usage, nil
}
