// Package containers translates the containers of a pod for the runtime, and checks whether this machine can run them.
package containers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/services"
	"github.com/stint-dev/stint/internal/node/volumes"
)

// Maker makes the containers of one machine.
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
	// Services returns the Services of all namespaces, for pods with a network.
	Services func() []*corev1.Service
	// Images finds and pulls the images of containers. If it is nil, no container can run from an image, for the reason
	// in WhyNoImages.
	Images      *images.Manager
	WhyNoImages string
	// DataDir is the data directory, which holds the seccomp profiles.
	DataDir string
}

// NewMaker makes a Maker.
func NewMaker(c Config) *Maker {
	return &Maker{Config: c, isolation: c.Runtime.Info(), filters: filters{dir: c.DataDir}}
}

// Start describes one start of a container.
type Start struct {
	Pod     *corev1.Pod
	Spec    *corev1.Container
	Attempt int32
	// Target is the running attempt whose process ids it is to share; nil if there is none.
	Target *runtime.ID
	// Since is when this start was first tried; see images.Request.
	Since time.Time
	// Network is that of the pod; nil is the machine's.
	Network *runtime.Network
	// Dir is the folder of the pod, VolumesDir that of its volumes. The other two are files of this attempt.
	Dir, VolumesDir, LogPath, TerminationMessageFile string
	// Warn records an event about a problem that does not prevent the start.
	Warn func(reason, message string)
}

// The waiting reasons of a container that could not be made.
const (
	ReasonCreating    = "ContainerCreating"
	ReasonConfigError = "CreateContainerConfigError"
)

// Make returns the container, or else an error and its waiting reason. The error may be an *images.Waiting.
func (m *Maker) Make(ctx context.Context, s Start) (c runtime.Container, reason string, err error) {
	if err := checkHostname(s.Pod); err != nil {
		return c, ReasonConfigError, err
	}
	pod := env.Pod{Pod: s.Pod, VolumesDir: s.VolumesDir}
	if s.Network != nil {
		pod.Services = services.Variables(s.Pod, m.Services())
	}
	vars, err := m.Env.Resolve(ctx, pod, s.Spec)
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
	if err == nil && c.Root == nil {
		err = m.mountFiles(&c, s)
	}
	return c, ReasonCreating, err
}

// fromSpec sets what does not depend on whether the container runs from an image.
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
		MaxPIDs:                maxPIDs(s.Pod),
		NoNewPrivileges:        noNewPrivileges(s.Spec),
		StopSignal:             stopSignal(s.Spec),
		Stdin:                  s.Spec.Stdin,
		StdinOnce:              s.Spec.StdinOnce,
		TTY:                    s.Spec.TTY,
		Network:                s.Network,
	}
	if m.isolation.Of(runtime.HandlerOf(s.Pod)).CanSetHostname {
		c.Hostname = hostname(s.Pod)
	}
	return c
}

// maxPIDs is the process limit of the pod's Job; 0 is that of the machine, which all other pods have.
func maxPIDs(pod *corev1.Pod) int64 {
	if owner := metav1.GetControllerOfNoCopy(pod); owner == nil || owner.Kind != "Job" {
		return 0
	}
	return job.PodMaxPIDsOf(pod.Annotations)
}

// stopSignal returns the signal that the container's spec names; 0 if it names none.
func stopSignal(c *corev1.Container) int32 {
	if c.Lifecycle == nil || c.Lifecycle.StopSignal == nil {
		return 0
	}
	n, _ := runtime.SignalNumber(string(*c.Lifecycle.StopSignal))
	return n
}

// processContainer sets the user, command and environment of a container that runs a program of this machine.
func (m *Maker) processContainer(c *runtime.Container, s Start, vars *env.Vars) (err error) {
	if c.User, err = m.userFor(s.Pod, s.Spec); err != nil {
		return err
	}
	c.Command = vars.Command(s.Spec)
	c.Env = m.envFor(c.User).Environ(vars, hostname(s.Pod))
	return nil
}

// UpdateVolumes rewrites those volumes of a pod that show API objects.
func (m *Maker) UpdateVolumes(ctx context.Context, pod *corev1.Pod, dir string) error {
	return m.Volumes.Update(ctx, m.volumesOf(pod, dir))
}

func (m *Maker) volumesOf(pod *corev1.Pod, dir string) volumes.Pod {
	return volumes.Pod{Pod: pod, Dir: dir, Share: m.sharerFor(pod)}
}
