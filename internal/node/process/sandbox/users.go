package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	goruntime "runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// users are the users that containers can run as.
//
//	machine's root    processes and images: any user
//	user namespace    processes: in a nested one, as the user who runs this program outside of it
//	                  images: its ids, or with one id a nested namespace for each user that is asked for
type users struct {
	processes *processTree
	outside   *runtime.User
	ids       uint32
	whyOneID  string
	// self is the user namespace of containers without image; nil if that is the one of this process.
	self *os.File

	mu sync.Mutex
	// single are namespaces with one user and one group, by their ids.
	single map[[2]uint32]*os.File
}

func openUsers(b *Sandbox) (_ *users, err error) {
	u := &users{
		processes: b.processes, outside: b.config.Outside, ids: b.config.IDs, whyOneID: b.config.WhyOneID,
		single: map[[2]uint32]*os.File{},
	}
	if u.outside != nil {
		u.self, err = u.namespaceOf(u.outside.UID, u.outside.GID)
	}
	return u, err
}

// isSelf reports whether a process is that user without becoming it.
func (u *users) isSelf(user *runtime.User) bool {
	if len(user.Groups) > 0 {
		return false
	}
	if u.outside != nil {
		return user.UID == u.outside.UID && user.GID == u.outside.GID
	}
	return int(user.UID) == os.Geteuid() && int(user.GID) == os.Getegid()
}

// hasSingleID reports whether the user namespace has no user but root.
func (u *users) hasSingleID() bool { return u.ids == 1 }

// last is the id of a user and of a group that no program has: it may not send signals, either. With a single id there is none but root's.
func (u *users) last() uint32 {
	if u.outside == nil {
		return math.MaxUint32 - 2 // The last two mean that there is none, on this machine or on another.
	}
	return u.ids - 1
}

// refuse returns an error if a container from an image cannot run as that user.
func (u *users) refuse(user *runtime.User) error {
	switch {
	case u.outside == nil || user == nil:
		return nil
	case u.hasSingleID() && len(user.Groups) > 0:
		return startErrorf("the container cannot have the groups %v: %s", user.Groups, u.whyOneID)
	case u.hasSingleID():
		return nil
	}
	for _, id := range append([]uint32{user.UID, user.GID}, user.Groups...) {
		if id >= u.ids {
			return startErrorf("the container cannot have the user or group %d: the user who runs stint has the ids 0 to %d (/etc/subuid, /etc/subgid)",
				id, u.ids-1)
		}
	}
	return nil
}

// namespaceFor returns the user namespace that a container from an image must enter to be user; nil if it needs none.
func (u *users) namespaceFor(user *runtime.User) (*os.File, error) {
	if !u.hasSingleID() || user == nil || user.UID == 0 && user.GID == 0 {
		return nil, nil
	}
	return u.namespaceOf(user.UID, user.GID)
}

// namespaceOf returns a child of this process's user namespace, in which root of this one has the ids uid and gid.
func (u *users) namespaceOf(uid, gid uint32) (*os.File, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	key := [2]uint32{uid, gid}
	if ns := u.single[key]; ns != nil {
		return ns, nil
	}
	ns, err := u.makeNamespace(uid, gid)
	if err != nil {
		return nil, fmt.Errorf("make a user namespace for user %d: %w", uid, err)
	}
	u.single[key] = ns
	return ns, nil
}

// makeNamespace starts a process in a new user namespace, and kills it when the namespace is open.
func (u *users) makeNamespace(uid, gid uint32) (*os.File, error) {
	p := &stage.Program{}
	p.Do("wait", unix.SYS_PPOLL, 0, 0, 0, 0)
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	var child *stage.Child
	_, err := u.processes.fork(func() (pid int, err error) {
		if child, err = stage.Start(p, unix.CLONE_NEWUSER, -1); err == nil {
			pid = child.PID
		}
		return pid, err
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = unix.PidfdSendSignal(child.PIDFD, unix.SIGKILL, nil, 0)
		unix.Close(child.PIDFD)
		_ = child.Wait(context.Background())
		_, _ = unix.Wait4(child.PID, nil, 0, nil)
		u.processes.forget(child.PID)
	}()
	proc := fmt.Sprintf("/proc/%d/", child.PID)
	err = errors.Join(
		os.WriteFile(proc+"setgroups", []byte("deny"), 0),
		os.WriteFile(proc+"uid_map", fmt.Appendf(nil, "%d 0 1", uid), 0),
		os.WriteFile(proc+"gid_map", fmt.Appendf(nil, "%d 0 1", gid), 0))
	if err != nil {
		return nil, err
	}
	return os.Open(proc + "ns/user")
}

func (u *users) close() {
	for _, ns := range u.single {
		ns.Close()
	}
}
