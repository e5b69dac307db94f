// Package wire is the protocol between a control plane and the host process that runs its containers: gob values over a
// unix socket. Many requests are in flight at a time; replies and events come back in batches, in any order.
//
//	control plane                         host
//	  Hello{Protocol, Dir}   ─────────►
//	                         ◄─────────   Welcome{Info} or Welcome{Refused}
//	  Request{Seq, Op, …}    ─────────►
//	  Request{Seq, Op, …}    ─────────►
//	                         ◄─────────   Batch{Replies, Events}
//
// A command that is run in a container has a connection of its own. The streams pass by their descriptors, so however
// slowly they are read, nothing else waits. The command ends when the control plane hangs up.
//
//	control plane                         host
//	  Hello{…, Exec}         ─────────►
//	                         ◄─────────   descriptors of the streams
//	                         ◄─────────   Exit{Code}
//
// Gob ignores fields that one side does not know, so a newer control plane can talk to an older host as long as
// Protocol is the same. A change that needs more than that increases Protocol.
package wire

import (
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Protocol is the version that this program speaks.
const Protocol = 2

// Hello opens a connection.
type Hello struct {
	Protocol int
	// Dir is the data directory whose containers the host should run.
	Dir string
	// Replace asks the host to end if it is idle, so that another one can replace it.
	Replace bool
	// Exec has a command run in a container.
	Exec *Exec
	// Attach passes on the streams of a container.
	Attach *Attach
	// Dial connects to a pod.
	Dial *Dial
}

// Dial asks for a TCP connection from the network of a pod, or of all pods. The host sends its socket, or none and an Exit that
// says why.
type Dial struct {
	Pod types.UID
	To  netip.AddrPort
}

// Exec asks for a command. The host sends the write end of its standard input and the read ends of its output and error
// output; or the one descriptor of its terminal; or none if it could not be started.
type Exec struct {
	ID   runtime.ID
	Args []string
	TTY  bool
	// Size is that of the terminal at first; zero if it is not known yet.
	Size runtime.Size
}

// Attach asks for streams of a running container. The host sends its standard input, and the read ends of its output and error
// output; or its terminal and the read end of what that shows.
type Attach struct {
	ID runtime.ID
	// Stdin is whether its standard input is wanted.
	Stdin bool
}

// Exit is how the command or the container ended.
type Exit struct {
	Code int32
	// StartError is why it could not be started, or not run to its end, if Code says so.
	StartError string
	// Err is why the host could not try.
	Err string
}

// Welcome is the answer to Hello.
type Welcome struct {
	Protocol int
	// Live is the number of containers that run.
	Live int
	Info runtime.Info
	// Program identifies the file that the host was started from; hosts of older versions leave it empty.
	Program string
	// DataDir is the rundir.ID of the data directory that the host has open; hosts of older versions leave it empty.
	DataDir string
	// Orphaned is whether that directory was deleted or emptied, so that no other control plane will ask for its containers.
	Orphaned bool
	// Refused is why the host hangs up now; empty if it does not.
	Refused string
	// Stays is whether a host that refuses has containers or a control plane, so that it does not end soon.
	Stays bool
}

// Self is the file that this process was started from, even if its path has another file by now.
const Self = "/proc/self/exe"

// Program identifies the version of the file at path; empty if there is none.
func Program(path string) string {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d:%d:%d", s.Dev, s.Ino, s.Size, s.Mtim.Nano())
}

// Op is what a request asks for.
type Op string

// The operations are the methods of runtime.Runtime.
const (
	OpStart        Op = "start"
	OpStop         Op = "stop"
	OpList         Op = "list"
	OpForget       Op = "forget"
	OpRemovePod    Op = "removePod"
	OpRemoveVolume Op = "removeVolume"
	OpShare        Op = "shareVolume"
	// OpShareToWrite is for shares whose files the group may write to. Hosts of older versions refuse it.
	OpShareToWrite Op = "shareVolumeToWrite"
	OpMeasure      Op = "measure"
	OpSetServices  Op = "setServices"
	// Hosts of older versions do not know it.
	OpResourceUsage Op = "resourceUsage"
	// OpCancel ends the request with the same Seq early, if it visits files: what the control plane has asked for it no longer wants.
	// There is no reply. Hosts of older versions answer that they do not know it, which nothing waits for.
	OpCancel Op = "cancel"
)

// Request asks for one operation; only the fields of its operation are set.
type Request struct {
	Seq       uint64
	Op        Op
	Container *runtime.Container
	IDs       []runtime.ID
	Grace     time.Duration
	PodUID    types.UID
	// Dir is the directory of the pod's volumes (OpRemovePod), of a volume (OpRemoveVolume), or one in a volume that is
	// given to Group (OpShare, OpShareToWrite).
	Dir   string
	Group uint32
	// OnMismatch is that of beneath.Share (OpShareToWrite).
	OnMismatch bool
	// Dirs are the directories to measure (OpMeasure).
	Dirs []string
	// Services replace all that were set before (OpSetServices).
	Services *runtime.Services
}

// Reply answers the request with the same Seq.
type Reply struct {
	Seq      uint64
	Statuses []runtime.Status
	Usage    runtime.Usage
	// ResourceUsage is in the order of the request's IDs (OpResourceUsage).
	ResourceUsage []runtime.ResourceUsage
	// TakenPorts are node ports that other programs have (OpSetServices).
	TakenPorts []uint16
	Err        string
}

// Batch holds the replies and events that the host sends at one time. An event about a container that runs says that its output is
// lost; control planes of older versions take it for what they know already.
type Batch struct {
	Replies []Reply
	Events  []runtime.Status
}
