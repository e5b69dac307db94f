package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// traces are what shows that a process belongs to a container which shares its process ids with others. It can rid itself of its mark, and
// of its mount namespace if it may make another one.
type traces struct {
	mark string
	// mounts is the inode of the container's mount namespace; 0 if it is not known.
	mounts uint64
}

func (t traces) isOn(pid int, e environ) bool {
	if e.has(map[string]bool{t.mark: true}) {
		return true
	}
	var stat unix.Stat_t
	return t.mounts != 0 && unix.Stat(procDir(pid)+"/ns/mnt", &stat) == nil && stat.Ino == t.mounts
}

// killBelow kills the descendants of a process 1 that have the traces, and reports whether some may be left.
func (t traces) killBelow(first int) bool {
	dead := map[int]bool{}
	for range maxPasses {
		if !t.killOrphans(first, dead) {
			return false
		}
	}
	return true
}

// killOrphans reports whether it may have missed one: the child of a process that was killed or has ended since the last pass. The newest
// come first, as they may fork and end at once.
func (t traces) killOrphans(first int, dead map[int]bool) (missed bool) {
	for _, pid := range slices.Backward(childrenOf(first)) {
		if dead[pid] {
			continue
		}
		missed = t.killTree(pid) || missed
		dead[pid] = statOf(pid).dead
		missed = missed || dead[pid]
	}
	return missed
}

// killTree kills the process and its descendants that have the traces, and reports whether there may have been any. One that is being
// loaded has no environment yet.
func (t traces) killTree(pid int) (any bool) {
	e, s := environAndStat(pid)
	if any = t.isOn(pid, e); any {
		killIf(pid, func() bool { return t.isOn(pid, environOf(pid)) })
	}
	if !s.dead {
		any = any || e.isMissing(s)
	}
	for _, child := range childrenOf(pid) {
		any = t.killTree(child) || any
	}
	return any
}
