package sandbox

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/rootfs"
)

// cgroupView is what a container from an image sees of its cgroups of version 1.
//
//	/sys/fs/cgroup/memory             the container's cgroup
//	/sys/fs/cgroup/cpu,cpuacct        the same, for a tree with two controllers
//	/sys/fs/cgroup/cpu                a link to it
//
// A mount shows the cgroup that the mounting process was in when it entered its cgroup namespace. So the container's process
// itself enters the cgroups and the namespace and mounts, by descriptors that were opened before, because it cannot see the
// cgroups from its root file system. This also saves moving a thread there and back.
type cgroupView struct {
	cgroups []cgroup1
	// tasks are the files by which the cgroups are entered.
	tasks []*os.File
	// affinity is the CPU affinity of the process; empty if it need not be restored or could not be read. Kernels before
	// 6.2 reset it when a process enters another cpuset.
	affinity []byte
	// dir is the descriptor of the directory of the mount points; -1 before it is made.
	dir      int
	writable bool
}

// view opens the files that the container's process needs. The thread must see the machine's file system.
func (l *legacyCgroups) view(writable bool) (*cgroupView, error) {
	v := &cgroupView{cgroups: l.cgroups, dir: -1, writable: writable}
	for _, g := range l.cgroups {
		tasks, err := os.OpenFile(filepath.Join(g.dir, tasksFile), os.O_WRONLY, 0)
		if err != nil {
			v.close()
			return nil, err
		}
		v.tasks = append(v.tasks, tasks)
	}
	var cpus unix.CPUSet
	if slices.ContainsFunc(l.cgroups, func(g cgroup1) bool { return g.setsCPUs() }) && unix.SchedGetaffinity(0, &cpus) == nil {
		for _, word := range cpus {
			v.affinity = binary.NativeEndian.AppendUint64(v.affinity, uint64(word))
		}
	}
	return v, nil
}

// makePoints makes the mount points in the container's root file system, where the thread is.
func (v *cgroupView) makePoints() (err error) {
	var names []string
	links := map[string]string{}
	for _, g := range v.cgroups {
		names = append(names, g.name)
		for _, controller := range g.controllers {
			if controller != g.name {
				links[controller] = g.name
			}
		}
	}
	v.dir, err = rootfs.ShowCgroups(names, links, v.writable)
	return err
}

func (v *cgroupView) close() {
	for _, tasks := range v.tasks {
		tasks.Close()
	}
	if v.dir >= 0 {
		unix.Close(v.dir)
	}
}

// enterCgroups moves the process into its cgroups and restores its CPU affinity.
func (c *child) enterCgroups(v *cgroupView) {
	const itself = "0"
	for i, g := range v.cgroups {
		c.Do("enter its cgroup of "+g.name, unix.SYS_WRITE, c.FD(int(v.tasks[i].Fd())), c.String(itself), uintptr(len(itself)))
	}
	if len(v.affinity) > 0 {
		c.Try(unix.SYS_SCHED_SETAFFINITY, 0, uintptr(len(v.affinity)), c.Bytes(v.affinity))
	}
}

// mountCgroups uses the descriptor of the directory: a volume may be mounted over its path, with links that other
// containers have made. Where the kernel refuses a mount, the mount point stays empty.
func (c *child) mountCgroups(v *cgroupView) {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	c.Do("enter "+cgroupMount, unix.SYS_FCHDIR, c.FD(v.dir))
	for _, g := range v.cgroups {
		controllers := c.String(strings.Join(g.controllers, ","))
		c.Try(unix.SYS_MOUNT, c.String("cgroup"), c.String(g.name), c.String("cgroup"), flags|readOnlyUnless(v.writable), controllers)
	}
	c.Do("leave "+cgroupMount, unix.SYS_CHDIR, c.String("/"))
}
