package rootfs

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/userns"
)

// maxIdle bounds how many unused overlays are kept, idleTime how long. They keep their image from being removed.
const (
	maxIdle  = 64
	idleTime = 5 * time.Second
)

// overlays are mounted in a mount namespace of their own. Containers get clones of them.
type overlays struct {
	// parent has the directory of that name for what containers write. It is open, because another process may have moved it, and
	// put another directory in its place.
	parent      *os.Root
	name, stage string
	namespace   *os.File
	// userxattr is set in a user namespace, which may not use the trusted attributes of overlays.
	userxattr bool

	mu sync.Mutex
	// idle are those that no container uses, the longest unused first.
	idle   []idleOverlay
	made   int
	expiry *time.Timer

	dropped  chan *overlay
	removals *removals
	gone     chan struct{}
}

type idleOverlay struct {
	*overlay
	since time.Time
}

// openOverlays moves the thread into a new mount namespace for the overlays, and finds out whether one can be mounted.
func openOverlays(dir, stage string) (*overlays, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	all := &overlays{
		name: filepath.Base(dir), stage: stage, userxattr: !userns.Initial(),
		dropped: make(chan *overlay, maxIdle), gone: make(chan struct{}),
	}
	if err := all.enter(filepath.Dir(dir)); err != nil {
		all.closeFiles()
		return nil, err
	}
	left, err := setAside(dir)
	if err != nil {
		all.closeFiles()
		return nil, fmt.Errorf("set aside what former containers have written: %w", err)
	}
	all.removals = startRemovals(all.remove, left)
	if err := all.try(); err != nil {
		all.removals.stop()
		all.closeFiles()
		return nil, fmt.Errorf("%s cannot hold the files that containers write: %w", dir, err)
	}
	go all.dropEach()
	return all, nil
}

// enter moves the thread into a new mount namespace. Parent is opened there, because the kernel mounts no overlay of a directory
// that was opened in another one.
func (all *overlays) enter(parent string) (err error) {
	if err = unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare the mount namespace: %w", err)
	}
	if all.parent, err = os.OpenRoot(parent); err != nil {
		return err
	}
	if err = unix.Mount("stint", all.stage, "tmpfs", 0, "mode=0700"); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err)
	}
	all.namespace, err = os.Open("/proc/thread-self/ns/mnt")
	return err
}

// try mounts an overlay, because not every file system can have an upper directory.
func (all *overlays) try() error {
	probe := filepath.Join(all.name, "probe")
	if err := all.parent.Mkdir(probe, 0o700); err != nil {
		return err
	}
	defer func() { _ = all.parent.Remove(probe) }()
	o, err := all.newOverlay(filepath.Join(all.parent.Name(), probe), "0")
	if err != nil {
		return err
	}
	all.drop(o)
	return nil
}

// take returns an overlay of tree and moves the thread into the namespace of the overlays.
func (all *overlays) take(tree string, owner string) (*overlay, error) {
	if err := setns(all.namespace); err != nil {
		return nil, err
	}
	if o := all.takeIdle(tree, owner); o != nil {
		return o, nil
	}
	all.mu.Lock()
	all.made++
	name := strconv.Itoa(all.made)
	all.mu.Unlock()
	o, err := all.newOverlay(tree, name)
	if o != nil {
		o.owner = owner
	}
	return o, err
}

func (all *overlays) takeIdle(tree string, owner string) *overlay {
	all.mu.Lock()
	defer all.mu.Unlock()
	for i := len(all.idle) - 1; i >= 0; i-- {
		if o := all.idle[i].overlay; o.tree == tree && o.owner == owner {
			all.idle = append(all.idle[:i], all.idle[i+1:]...)
			return o
		}
	}
	return nil
}

// giveBack keeps the overlay for the next container of its owner if this one has not changed it. Clean is whether no process of this one is
// left. Another process may still hold a descriptor of the overlay, which cannot be seen: that is why no other owner gets it.
func (all *overlays) giveBack(o *overlay, clean bool) {
	if !clean || o.owner == "" || !o.isPristine() {
		all.dropped <- o
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.idle = append(all.idle, idleOverlay{o, time.Now()})
	if len(all.idle) > maxIdle {
		all.dropped <- all.idle[0].overlay
		all.idle = all.idle[1:]
	}
	if all.expiry == nil {
		all.expiry = time.AfterFunc(idleTime, all.expire)
	}
}

// expire drops overlays that were unused for idleTime.
func (all *overlays) expire() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for len(all.idle) > 0 && time.Since(all.idle[0].since) >= idleTime {
		all.dropped <- all.idle[0].overlay
		all.idle = all.idle[1:]
	}
	all.expiry = nil
	if len(all.idle) > 0 {
		all.expiry = time.AfterFunc(time.Until(all.idle[0].since.Add(idleTime)), all.expire)
	}
}

// dropEach drops overlays on a thread of its own.
func (all *overlays) dropEach() {
	runtime.LockOSThread()
	defer close(all.gone)
	if unix.Unshare(unix.CLONE_FS) != nil || setns(all.namespace) != nil {
		return
	}
	for o := range all.dropped {
		all.drop(o)
	}
}

// drop unmounts an overlay and has what was written to it removed. The thread must be in the namespace of the overlays.
func (all *overlays) drop(o *overlay) {
	_ = unix.Unmount(o.path, unix.MNT_DETACH)
	_ = os.Remove(o.path)
	for _, f := range []*os.File{o.upper, o.lock} {
		if f != nil {
			f.Close()
		}
	}
	all.removals.add(o.name)
}

// remove removes what was written to an overlay that is not mounted.
func (all *overlays) remove(ctx context.Context, name string) error {
	dir, err := all.parent.Open(all.name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return beneath.At(dir).Remove(ctx, name)
}

// setAside gives what a former host process has left in the directory other names than those of overlays, and returns these.
func setAside(path string) (left []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	dir, err := beneath.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for _, e := range entries {
		name := ".left-" + rand.Text()
		if err := dir.Rename(e.Name(), name); err != nil {
			return nil, err
		}
		left = append(left, name)
	}
	return left, nil
}

func (all *overlays) close() {
	all.mu.Lock()
	if all.expiry != nil {
		all.expiry.Stop()
	}
	for _, o := range all.idle {
		all.dropped <- o.overlay
	}
	all.idle = nil
	all.mu.Unlock()
	close(all.dropped)
	<-all.gone
	all.removals.stop()
	_ = all.parent.Remove(all.name)
	all.closeFiles()
}

func (all *overlays) closeFiles() {
	if all.parent != nil {
		all.parent.Close()
	}
	if all.namespace != nil {
		all.namespace.Close()
	}
}
