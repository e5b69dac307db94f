package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/process/rootfs"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/userns"
)

// Config says what a Sandbox may try.
type Config struct {
	// StateDir is a directory on tmpfs for small files.
	StateDir string
	// RootsDir is a directory on disk for what containers write to their root file systems.
	RootsDir string
	// Name distinguishes the cgroups and processes of this Sandbox from those of others.
	Name string
	// WhyNoMount, where set, is why mounting is not tried.
	WhyNoMount string
	// NoCgroups is set if cgroups are not to be used.
	NoCgroups bool
	// OwnScope means that this process is alone in its cgroup, which is delegated to it.
	OwnScope bool
	// MaxPIDs bounds the processes and threads of a container; 0 or less is without limit.
	MaxPIDs int64
	// KeepSessionKeyring leaves this process, and containers of its user without image, with the session keyring of their starter.
	KeepSessionKeyring bool
	// PIDNamespace means that this process is the first one of a pid namespace, which ends with it.
	PIDNamespace bool
	// Outside is the user that root of this process's user namespace is outside of it; nil in the initial user namespace.
	// IDs is how many users and groups the namespace has; WhyOneID says why it has only one.
	Outside  *runtime.User
	IDs      uint32
	WhyOneID string
}

// Sandbox starts containers on this machine with the best isolation that the machine allows.
type Sandbox struct {
	config    Config
	unified   *unified
	legacy    *legacy
	processes *processTree
	views     *views
	slots     slots
	roots     *rootfs.Roots
	users     *users
	podPIDs   *podPIDs
	networks  *podNetworks
	// staged is whether processes are started by package stage. They get fileLimit.
	staged    bool
	fileLimit *unix.Rlimit
	child     childFacts
	info      runtime.Info
	null      *os.File

	// jobs are those of the threads of starters. lockedStarters start containers that may not gain privileges, where package stage does not.
	jobs                     *taskQueue
	starters, lockedStarters *starters

	tmpfsMu sync.Mutex
	tmpfs   map[types.UID][]string
}

// Open finds out what this machine allows by trying it, the best isolation first.
func Open(config Config) (*Sandbox, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	b := &Sandbox{
		config: config,
		null:   null,
		tmpfs:  map[types.UID][]string{},
	}
	b.starters, b.lockedStarters = newStarters(b, false), newStarters(b, true)
	b.jobs = b.starters.jobs
	if err := b.openCgroups(); err != nil {
		return nil, err
	}
	if b.users, err = openUsers(b); err != nil {
		return nil, err
	}
	if b.podPIDs, err = openPodPIDs(b); err != nil {
		return nil, err
	}
	b.networks = openPodNetworks(b)
	if err := b.starters.open(); err != nil {
		return nil, err
	}
	if b.legacy.pids != nil {
		b.starters.makeAhead()
	}
	if err := b.openSlots(); err != nil {
		return nil, err
	}
	b.info = b.describe()
	if err := b.openRoots(); err != nil {
		b.info.WhyNoImages = err.Error()
	}
	b.info.CanRunImages = b.roots != nil
	b.info.CanRunPrivileged, b.info.CanSharePIDs = b.info.CanRunImages, b.info.CanRunImages
	b.info.CanSharePIDsOf = b.info.CanRunImages
	b.info.CanShareVolumes = b.info.CanRunImages && !b.users.hasSingleID()
	b.info.CanSetSysctls = b.info.CanRunImages && b.trySysctls()
	b.info.CanShareNamespaces = b.info.CanRunImages && userns.Initial()
	return b, nil
}

func (b *Sandbox) openCgroups() error {
	var all []hierarchy
	var err error
	if !b.config.NoCgroups {
		if all, err = hierarchies(); err != nil {
			return fmt.Errorf("read the machine's cgroups: %w", err)
		}
	}
	b.unified, err = openUnified(all, b.config)
	if err == nil {
		err = b.tryLeaf()
	}
	if err != nil {
		b.unified = nil
	}
	if canStage() {
		b.fileLimit, err = originalFileLimit()
		b.staged = err == nil
	}
	// After these tries, whose processes the reaper would take for orphans.
	if b.processes, err = newProcessTree(); err != nil {
		return err
	}
	b.legacy = openLegacy(all, b.config)
	return nil
}

// tryLeaf finds out whether a process can be started in a leaf. That a leaf can be made is no proof of that.
func (b *Sandbox) tryLeaf() error {
	l, err := b.unified.newLeaf("probe")
	if err != nil {
		return err
	}
	defer func() { _ = l.remove() }()
	attr := &os.ProcAttr{Sys: &unix.SysProcAttr{UseCgroupFD: true, CgroupFD: int(l.dir.Fd())}}
	p, err := os.StartProcess("/bin/true", []string{"true"}, attr)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	state, err := p.Wait()
	if err != nil {
		return err
	}
	pause := killWait{limit: killTimeout}
	for l.populated() && pause.next() {
	}
	if !state.Success() {
		return fmt.Errorf("a process that was started in a cgroup ended: %s", state)
	}
	return nil
}

// Info is what Open found.
func (b *Sandbox) Info() runtime.Info { return b.info }

func (b *Sandbox) describe() runtime.Info {
	info := runtime.Info{Name: "process", Version: "1.0", Isolation: "process group"}
	switch {
	case b.unified != nil && (b.unified.holds("memory") || b.unified.holds("cpu")):
		info.Isolation = "cgroup v2"
	case b.unified != nil && (b.legacy.memory != nil || b.legacy.cpu != nil):
		info.Isolation = "cgroup v2, limits by v1"
	case b.unified != nil:
		info.Isolation = "cgroup v2 without limits"
	case b.config.PIDNamespace:
		info.Isolation = "user and pid namespaces"
	}
	info.EnforcesMemory = b.unified != nil && b.unified.holds("memory") || b.legacy.memory != nil
	info.EnforcesCPU = b.unified != nil && b.unified.holds("cpu") || b.legacy.cpu != nil
	info.ProcessLimit = b.processLimit()
	info.CanMount = b.views.usable()
	info.WhyNoMount = b.views.why
	info.CanMountReadOnly = canMountReadOnly()
	info.CanSetHostname = b.views.canRename
	info.CanMeasure = true // Hosts of older versions do not set it.
	info.CanExec = b.staged
	info.CanSetUser = b.config.Outside == nil && isRoot()
	info.PodRange, info.WhyNoNetworks = b.networks.pods, b.networks.why
	info.ImageIDs, info.WhyOneImageID = b.config.IDs, b.config.WhyOneID
	return info
}

// isRoot reports whether this process can start processes of other users: it is root, with the two capabilities that this
// takes.
func isRoot() bool {
	if os.Geteuid() != 0 {
		return false
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	const need = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID
	return data[0].Effective&need == need
}

// Cgroups lists the directories that hold the cgroups of this Sandbox, for Sweep.
func (b *Sandbox) Cgroups() []string {
	dirs := b.legacy.dirs()
	if b.unified != nil {
		dirs = append(dirs, b.unified.dir)
	}
	return dirs
}

// Sweep ends everything that the Sandbox of this name in a former host process has left: the processes in its cgroups, the
// processes with the mark of one of its containers, and the cgroups.
func Sweep(name string, cgroups []string, ids []runtime.ID) {
	marks := map[string]bool{}
	for _, id := range ids {
		marks[mark(name, id)] = true
	}
	sweepMarked(marks)
	for _, dir := range cgroups {
		if !isCgroup(dir, name) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err == nil {
			sweepUnified(dir)
		} else {
			sweepLegacy(dir)
		}
	}
}

// isCgroup reports whether dir is a cgroup of the Sandbox of that name. A journal alone does not decide which processes
// are killed.
func isCgroup(dir, name string) bool {
	var stat unix.Stat_t
	var at unix.Statfs_t
	if filepath.Base(dir) != name || unix.Lstat(dir, &stat) != nil || unix.Statfs(dir, &at) != nil {
		return false
	}
	isDir := stat.Mode&unix.S_IFMT == unix.S_IFDIR
	return isDir && (at.Type == unix.CGROUP2_SUPER_MAGIC || at.Type == unix.CGROUP_SUPER_MAGIC)
}

// Close removes what the Sandbox has made. No container may be running.
func (b *Sandbox) Close() {
	b.slots.close()
	b.users.close()
	b.podPIDs.close()
	b.networks.close()
	if b.roots != nil {
		b.roots.Close()
	}
	os.Remove(b.views.stage())
	b.starters.close()
	b.lockedStarters.close()
	b.legacy.close()
	if b.unified != nil {
		b.unified.close()
	}
}

// threadCount is how many threads fork. Forks happen one after another, but what precedes them is done in parallel.
func threadCount() int { return max(2, min(goruntime.NumCPU(), 8)) }
