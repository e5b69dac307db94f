package process_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/process/host"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// oldWelcome and oldInfo are what a host sent before there were images.
type oldWelcome struct {
	Protocol, Live int
	Info           oldInfo
	Refused        string
	Stays          bool
}

type oldInfo struct {
	Name, Version, Isolation    string
	EnforcesCPU, EnforcesMemory bool
	CanMount                    bool
	WhyNoMount                  string
	CanSetHostname, CanSetUser  bool
}

// oldRequest has the fields of a request that such a host knows.
type oldRequest struct {
	Seq       uint64
	Op        wire.Op
	Container *struct {
		runtime.ID
		Command []string
	}
}

// hostBeforeImages imitates a host of a version without images. It reports a container, so that it is not replaced. It runs
// nothing, and sends what it was asked to run.
func hostBeforeImages(t *testing.T, dir string) (asked <-chan string) {
	t.Helper()
	run := makeRunDir(t, dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(run, host.SocketName), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	commands := make(chan string, 10)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			socket, err := l.AcceptUnix()
			if err != nil {
				return
			}
			serveAsOld(wire.NewConn(socket), commands)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-gone
	})
	return commands
}

// serveAsOld serves one control plane until that hangs up.
func serveAsOld(c *wire.Conn, commands chan<- string) {
	defer c.Close()
	var hello wire.Hello
	if c.Receive(&hello) != nil || c.Send(oldWelcome{Protocol: wire.Protocol, Live: 1, Info: oldInfo{Name: "process", CanMount: true}}) != nil {
		return
	}
	for {
		var r oldRequest
		if c.Receive(&r) != nil {
			return
		}
		reply := wire.Reply{Seq: r.Seq}
		if r.Op == wire.OpStart {
			commands <- strings.Join(r.Container.Command, " ")
			reply.Statuses = []runtime.Status{{ID: r.Container.ID, State: runtime.Exited}}
		}
		if c.Send(wire.Batch{Replies: []wire.Reply{reply}}) != nil {
			return
		}
	}
}

// A host that still runs after an upgrade ignores fields that it does not know, so it would run the command of an image on
// the machine's own file system.
func TestAnOldHostIsGivenNoImages(t *testing.T) {
	dir := t.TempDir()
	asked := hostBeforeImages(t, dir)
	r, err := process.Start(await.Context(t), configOf(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info().Of(runtime.ClassOCI)
	if info.CanRunImages || !strings.Contains(info.WhyNoImages, "older version of stint") {
		t.Errorf("images can be run: %v, %q", info.CanRunImages, info.WhyNoImages)
	}
	if info.CanRunPrivileged || info.CanSharePIDs || info.CanSharePIDsOf || info.CanSetSysctls || info.CanShareNamespaces || info.CanShareVolumes || info.CanMeasure {
		t.Errorf("it is taken for more than it is: %+v", info)
	}
	fromImage := runtime.Container{ID: runtime.ID{PodUID: "pod", Container: "image"}, Command: []string{"of", "image"}, Root: &runtime.Root{Tree: "/"}}
	if s, err := r.Start(await.Context(t), fromImage); err == nil || !strings.Contains(err.Error(), "older version of stint") {
		t.Errorf("a container from an image: %+v, %v", s, err)
	}
	ofMachine := runtime.Container{ID: runtime.ID{PodUID: "pod", Container: "machine"}, Command: []string{"of", "machine"}}
	if s, err := r.Start(await.Context(t), ofMachine); err != nil || s.State != runtime.Exited {
		t.Errorf("a process: %+v, %v", s, err)
	}
	if got := <-asked; got != "of machine" {
		t.Errorf("the host was asked to run %q", got)
	}
}
