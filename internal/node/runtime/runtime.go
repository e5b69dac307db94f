// Package runtime is the interface between the life cycle of a pod (internal/node) and what runs its containers
// (internal/node/process today, CRI later).
//
// A runtime holds no API state. It starts a container, signals it, and reports how it ended; it keeps what it knows
// about an ended container until it is told to forget it, over restarts of the control plane too.
package runtime

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/beneath"
)

// ID names one attempt at one container for ever. Starting the same ID twice runs it once.
type ID struct {
	PodUID    types.UID `json:"podUID"`
	Container string    `json:"container"`
	// Attempt is the container's restart count: 0 for the first start.
	Attempt int32 `json:"attempt"`
}

// Check returns why the ID cannot be that of a container: its parts become names of files.
func (id ID) Check() error {
	for _, part := range []string{string(id.PodUID), id.Container} {
		if !beneath.IsElement(part) || len(part) > maxNameBytes {
			return fmt.Errorf("%q is neither the UID of a pod nor the name of a container", part)
		}
	}
	return nil
}

// maxNameBytes is the longest name that a file can have.
const maxNameBytes = 255

// Container is all a runtime must know to start one.
type Container struct {
	ID
	PodNamespace string `json:"podNamespace"`
	PodName      string `json:"podName"`

	// Command is the whole argument vector, every $(VAR) expanded. Command[0] is looked up in the PATH of Env.
	Command []string `json:"command"`
	// Env holds NAME=value in the order of the pod spec.
	Env        []string `json:"env,omitempty"`
	WorkingDir string   `json:"workingDir,omitempty"`
	// Hostname is empty to keep the machine's.
	Hostname string  `json:"hostname,omitempty"`
	Mounts   []Mount `json:"mounts,omitempty"`

	// LogPath is the CRI log file, made when there is something to write.
	LogPath string `json:"logPath"`
	// TerminationMessagePath is where the container finds the file TerminationMessageFile of the host.
	TerminationMessagePath string `json:"terminationMessagePath,omitempty"`
	TerminationMessageFile string `json:"terminationMessageFile,omitempty"`

	// Limits; zero is none.
	CPUMilliLimit    int64 `json:"cpuMilliLimit,omitempty"`
	MemoryLimitBytes int64 `json:"memoryLimitBytes,omitempty"`
	// CPUMilliRequest weighs the container against others when CPU is short.
	CPUMilliRequest int64 `json:"cpuMilliRequest,omitempty"`
	// MaxPIDs bounds processes and threads. Zero is the default of the runtime, less is no limit.
	MaxPIDs int64 `json:"maxPIDs,omitempty"`

	// User is the user to run as; nil is root if Root is set, else the user who runs the runtime.
	User *User `json:"user,omitempty"`
	// NoNewPrivileges keeps set-user-ID programs from gaining rights.
	NoNewPrivileges bool `json:"noNewPrivileges,omitempty"`

	// Stdin keeps a standard input open for clients that attach. With StdinOnce the first one closes it. TTY gives it a terminal.
	Stdin     bool `json:"stdin,omitempty"`
	StdinOnce bool `json:"stdinOnce,omitempty"`
	TTY       bool `json:"tty,omitempty"`
	// StopSignal asks the main process to end; zero is SIGTERM.
	StopSignal int32 `json:"stopSignal,omitempty"`
	// Root has the container see the files of an image; nil shows it the machine's.
	Root *Root `json:"root,omitempty"`
	// Network gives its pod a network; nil has it use the machine's.
	Network *Network `json:"network,omitempty"`
}

// Root is the root file system of a container that runs from an image.
type Root struct {
	// Tree is the directory of the image's files. Nothing is ever written to it.
	Tree string `json:"tree"`
	// ImageID is the image's name by its digest, for the Status.
	ImageID string `json:"imageID,omitempty"`
	// Owner is who owns the container's pod: only a container of the same owner may get its root file system again, unchanged. Without one
	// it serves no other.
	Owner string `json:"owner,omitempty"`
	// ReadOnly keeps the container from writing outside its volumes.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Capabilities are those that the container's programs can have, a bit for each number of capabilities(7).
	Capabilities uint64 `json:"capabilities,omitempty"`
	// Seccomp filters its system calls; empty lets all pass.
	Seccomp []Instruction `json:"seccomp,omitempty"`
	// SeccompFlags are those that seccomp(2) gets with it.
	SeccompFlags uint32 `json:"seccompFlags,omitempty"`
	// Files are shown over those of the image, by their paths. The container may write to them; no other one sees it.
	Files map[string]string `json:"files,omitempty"`
	// Unmasked shows all of /proc, for its programs to write to as the kernel allows.
	Unmasked bool `json:"unmasked,omitempty"`
	// Privileged shows the machine's devices too, and /sys to write to as the kernel allows.
	Privileged bool `json:"privileged,omitempty"`
	// HostPID and HostIPC have it share the machine's process ids, and its shared memory and message queues.
	HostPID bool `json:"hostPID,omitempty"`
	HostIPC bool `json:"hostIPC,omitempty"`
	// SharePIDs has it share process ids with the other containers of its pod that do.
	SharePIDs bool `json:"sharePIDs,omitempty"`
	// PIDsOf has it share process ids with a container that runs, whose main process is process 1 for both. It ends with
	// that one. It is nil if HostPID or SharePIDs is set.
	PIDsOf *ID `json:"pidsOf,omitempty"`
	// Sysctls are kernel parameters for which IsIPCSysctl is true.
	Sysctls map[string]string `json:"sysctls,omitempty"`
}

// Instruction is one of a seccomp filter, as struct sock_filter.
type Instruction struct {
	Code   uint16 `json:"code"`
	Jt, Jf uint8
	K      uint32
}

// User is the user that a container runs as.
type User struct {
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups,omitempty"`
}

// Mount shows HostPath, or the SubPath of it, at ContainerPath inside the container.
type Mount struct {
	HostPath string `json:"hostPath"`
	// SubPath is resolved when it is mounted and never leads out of HostPath. Directories that it lacks are made.
	SubPath       string `json:"subPath,omitempty"`
	ContainerPath string `json:"containerPath"`
	ReadOnly      bool   `json:"readOnly,omitempty"`
	// RecursiveReadOnly has ReadOnly count for all mounts below too, if the runtime CanMountReadOnly.
	RecursiveReadOnly bool `json:"recursiveReadOnly,omitempty"`
	// Tmpfs mounts a fresh memory file system of SizeBytes at HostPath's place instead (emptyDir, medium Memory),
	// once a pod.
	Tmpfs     bool  `json:"tmpfs,omitempty"`
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	// Group is the group that owns its files, if it is not 0.
	Group uint32 `json:"group,omitempty"`
}

// State is where an attempt stands.
type State string

const (
	// Running has a live process tree.
	Running State = "Running"
	// Exited has no process left, and never gets one again.
	Exited State = "Exited"
)

// Status describes one attempt.
type Status struct {
	ID
	PodNamespace string    `json:"podNamespace"`
	PodName      string    `json:"podName"`
	State        State     `json:"state"`
	PID          int       `json:"pid,omitempty"`
	StartedAt    time.Time `json:"startedAt"`
	FinishedAt   time.Time `json:"finishedAt,omitempty"`
	// ExitCode is the process's own, or 128 + Signal.
	ExitCode int32 `json:"exitCode"`
	Signal   int32 `json:"signal,omitempty"`
	// OOMKilled: the kernel's OOM killer killed it.
	OOMKilled bool `json:"oomKilled,omitempty"`
	// StartError says why the process could not be started. ExitCode is 128 then, not 127 or 126 as from a shell.
	StartError string `json:"startError,omitempty"`
	// Lost: the host process died and took the container with it; the exit code is not known.
	Lost bool `json:"lost,omitempty"`
	// TerminationMessage is what the container left in its termination message file, at most 4,096 bytes.
	TerminationMessage string `json:"terminationMessage,omitempty"`
	// ImageID is that of the container's Root.
	ImageID string `json:"imageID,omitempty"`
	// MissingMountPoints are those that had to be made in private copies of the machine's directories.
	MissingMountPoints []MissingMountPoint `json:"missingMountPoints,omitempty"`
	// LostOutput is what could not be written to its log; nil if nothing was lost, and from a host of an older version.
	LostOutput *LostOutput `json:"lostOutput,omitempty"`
}

// LostOutput is output of a container that its log lacks. It does not change until the container ends.
type LostOutput struct {
	// Bytes is the amount; while the container runs it is that of the first write that failed.
	Bytes int64 `json:"bytes"`
	// Since is when the first of it was printed.
	Since time.Time `json:"since"`
	// Reason is why that could not be written, for people: "no space left on device".
	Reason string `json:"reason"`
}

// MissingMountPoint is a mount path that the machine does not have. For want of it Dir, the nearest directory that the
// machine has, is read-only in the container, though the container's user could write there.
type MissingMountPoint struct {
	Path   string `json:"path"`
	Dir    string `json:"dir"`
	IsFile bool   `json:"isFile,omitempty"`
}

// Usage is what was measured, in the order of what was asked for.
type Usage struct{ Roots, Dirs []int64 }

// Info says what this runtime can guarantee on this machine.
type Info struct {
	// Name and Version as in a node's containerRuntimeVersion: "process://1.0".
	Name    string
	Version string
	// Isolation names the isolation level in force, for people: "cgroup v2", "user and pid namespaces", "process
	// group".
	Isolation string
	// EnforcesCPU and EnforcesMemory: whether limits are held.
	EnforcesCPU    bool
	EnforcesMemory bool
	// ProcessLimit says, for people, what bounds the number of processes; empty is nothing.
	ProcessLimit string
	// CanMount: whether a container can be shown volumes at their mount paths; if not, WhyNoMount says why.
	CanMount   bool
	WhyNoMount string
	// CanMountReadOnly: whether RecursiveReadOnly mounts hold.
	CanMountReadOnly bool
	// CanSetHostname, CanSetUser: whether these fields of a pod can be honoured.
	CanSetHostname bool
	CanSetUser     bool
	// CanRunImages: whether containers with a Root can be started; if not, WhyNoImages says why. A runtime that does not
	// know of images says neither.
	CanRunImages bool
	WhyNoImages  string
	// CanRunPrivileged, CanSharePIDs, CanSetSysctls and CanShareNamespaces: whether containers with a Root can be
	// Privileged, can have SharePIDs and Sysctls, and can have HostPID and HostIPC.
	CanRunPrivileged   bool
	CanSharePIDs       bool
	CanSetSysctls      bool
	CanShareNamespaces bool
	// CanSharePIDsOf: whether containers with a Root can have PIDsOf.
	CanSharePIDsOf bool
	// CanShareVolumes: whether ShareVolume can be asked for.
	CanShareVolumes bool
	// CanMeasure: whether Measure can be asked for.
	CanMeasure bool
	// PodRange has the addresses that pods with a Network can have; if it is not valid, WhyNoNetworks says why there are none.
	PodRange      netip.Prefix
	WhyNoNetworks string
	// CanExec: whether Exec and Attach can be asked for, and containers can have a standard input or a terminal.
	CanExec bool
	// ImageIDs is how many users containers with a Root can have, from 0 on; 0 is all. WhyOneImageID says why there is
	// only one: such a container can run as any user, but as no other beside it.
	ImageIDs      uint32
	WhyOneImageID string
}

// Of returns what the runtime can guarantee for containers of a handler.
func (i Info) Of(handler string) Info {
	if handler == ClassOCI {
		i.Name, i.Version = ClassOCI, "1.0"
		// What it takes to run an image gives these too.
		i.CanSetUser, i.CanSetHostname, i.CanMount = true, true, true
	}
	return i
}

// Runtime starts, signals and reports containers. All methods are safe for concurrent use.
type Runtime interface {
	Info() Info

	// Start starts c and returns once it runs or has failed to start (a Status with StartError, not an error).
	// Starting an ID that is known already returns its status and starts nothing.
	// An error means the runtime could not be asked; Start may be called again.
	Start(ctx context.Context, c Container) (Status, error)

	// Stop sends SIGTERM to the container's main process, and SIGKILL to its whole tree after grace.
	// It returns at once; the end comes through Events. A second Stop can only shorten the grace. Unknown IDs are no error.
	Stop(ctx context.Context, id ID, grace time.Duration) error

	// List returns every attempt that runs or has not been forgotten.
	List(ctx context.Context) ([]Status, error)

	// Events delivers the Status of every attempt that exits, or loses output for the first time, while the control plane is
	// connected, once or more. What happened before is in List. The channel is closed when the runtime is.
	Events() <-chan Status

	// Forget drops the records of ended attempts whose result is safe in the API server.
	Forget(ctx context.Context, ids ...ID) error

	// RemovePod ends what is left of a pod and removes what its containers shared (cgroup, tmpfs, network), and what they have
	// written to volumes, as far as this user may not remove it. Dir is the directory of these volumes.
	RemovePod(ctx context.Context, uid types.UID, dir string) error

	// RemoveVolume removes a directory with all that containers have written there, as far as this user may not remove it.
	RemoveVolume(ctx context.Context, dir string) error

	// ShareVolume gives a directory of a pod's volume, and all in it, to a group as containers with a Root call it.
	ShareVolume(ctx context.Context, dir string, share beneath.Share) error

	// SetServices replaces the addresses that pods with a Network find beside each other. It returns the node ports that
	// other programs have. They are opened when they are free.
	SetServices(ctx context.Context, s Services) (taken []uint16, err error)

	// Dial makes a TCP connection from the network of a pod with a Network, or if pod is empty, from that in which all of
	// them find each other.
	Dial(ctx context.Context, pod types.UID, to netip.AddrPort) (net.Conn, error)

	// Measure returns how many bytes of the disk are taken by what each of these attempts has written to its Root, and by
	// each of these directories with all that is in them. Attempts that do not run, or have no Root, and directories that
	// are not there take nothing.
	Measure(ctx context.Context, ids []ID, dirs []string) (Usage, error)

	// ResourceUsage measures the CPU time and the memory of each of these attempts.
	ResourceUsage(ctx context.Context, ids []ID) ([]ResourceUsage, error)

	// Exec runs a command beside the main process of a running attempt: with its user, its environment, its limits and its
	// view of the machine. It returns the exit code when the command has ended and all that it has printed is written.
	// The error is a *CommandError if the command cannot be started.
	// The command ends with the container, with ctx, with this process, and when it cannot write to the streams.
	Exec(ctx context.Context, id ID, command Command, streams Streams) (exitCode int32, err error)
	// Attach connects the streams with those of the main process of a running attempt: it passes on what that prints from now
	// on, until the container or ctx ends. A client that reads too slowly is disconnected.
	Attach(ctx context.Context, id ID, streams Streams) error
	// Close disconnects. Containers run on.
	Close() error
}
