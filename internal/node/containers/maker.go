// Package containers translates the containers of pods for the runtime, and says which pods a machine cannot run.
package containers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
)

// Maker translates for one machine.
type Maker struct {
	Config
	isolation runtime.Info
	filters   filters
}

// Config is what a Maker needs.
type Config struct {
	Runtime runtime.Runtime
	Env     env.Resolver
	Volumes volumes.Maker
	// Images brings the images of containers; nil has none run from one, for the reason WhyNoImages.
	Images      *images.Manager
	WhyNoImages string
	// DataDir is where seccomp profiles are looked up.
	DataDir string
}

// NewMaker makes a Maker.
func NewMaker(c Config) *Maker {
	return &Maker{Config: c, isolation: c.Runtime.Info(), filters: filters{dir: c.DataDir}}
}

// Start is a start of a container that is due.
type Start struct {
	Pod     *corev1.Pod
	Spec    *corev1.Container
	Attempt int32
	// Since is when the container was to be started first.
	Since time.Time
	// Where what belongs to the start is put.
	VolumesDir, LogPath, TerminationMessageFile string
	// Warn says what is wrong with the pod and does not keep it from starting.
	Warn func(reason, message string)
}

// The waiting reasons of a container that could not be made.
const (
	ReasonCreating    = "ContainerCreating"
	ReasonConfigError = "CreateContainerConfigError"
)

// Make returns the container, or with an error the waiting reason. The error may be an *images.Waiting.
func (m *Maker) Make(ctx context.Context, s Start) (c runtime.Container, reason string, err error) {
	vars, err := m.Env.Resolve(ctx, s.Pod, s.Spec)
	if err != nil {
		return c, ReasonConfigError, err
	}
	c = m.fromSpec(s)
	if runtime.HandlerOf(s.Pod) == runtime.ClassOCI {
		var image *images.Image
		if image, err = m.imageOf(ctx, s); err == nil {
			err = m.imageContainer(&c, image, s, vars)
		}
	} else {
		err = m.processContainer(&c, s, vars)
	}
	if err != nil {
		return c, ReasonConfigError, err
	}
	c.Mounts, err = m.Volumes.Mounts(ctx, m.volumesOf(s.Pod, s.VolumesDir), s.Spec, vars.Lookup)
	return c, ReasonCreating, err
}

// fromSpec is what does not depend on where the container's program comes from.
func (m *Maker) fromSpec(s Start) runtime.Container {
	c := runtime.Container{
		ID:                     runtime.ID{PodUID: s.Pod.UID, Container: s.Spec.Name, Attempt: s.Attempt},
		PodNamespace:           s.Pod.Namespace,
		PodName:                s.Pod.Name,
		WorkingDir:             s.Spec.WorkingDir,
		LogPath:                s.LogPath,
		TerminationMessagePath: s.Spec.TerminationMessagePath,
		TerminationMessageFile: s.TerminationMessageFile,
		CPUMilliLimit:          s.Spec.Resources.Limits.Cpu().MilliValue(),
		MemoryLimitBytes:       s.Spec.Resources.Limits.Memory().Value(),
		CPUMilliRequest:        s.Spec.Resources.Requests.Cpu().MilliValue(),
		NoNewPrivileges:        noNewPrivileges(s.Spec),
	}
	if m.isolation.Of(runtime.HandlerOf(s.Pod)).CanSetHostname {
		c.Hostname = hostname(s.Pod)
	}
	return c
}

// processContainer has the container run a program of this machine.
func (m *Maker) processContainer(c *runtime.Container, s Start, vars *env.Vars) (err error) {
	if c.User, err = m.userFor(s.Pod, s.Spec); err != nil {
		return err
	}
	c.Command = vars.Command(s.Spec)
	c.Env = m.envFor(c.User).Environ(vars, hostname(s.Pod))
	return nil
}

// UpdateVolumes rewrites what the volumes of a pod show.
func (m *Maker) UpdateVolumes(ctx context.Context, pod *corev1.Pod, dir string) error {
	return m.Volumes.Update(ctx, m.volumesOf(pod, dir))
}

func (m *Maker) volumesOf(pod *corev1.Pod, dir string) volumes.Pod {
	return volumes.Pod{Pod: pod, Dir: dir, SetGroup: m.groupSetterFor(pod)}
}
