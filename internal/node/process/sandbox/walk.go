package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links a walk follows, as many as the kernel does.
const maxLinks = 40

// errLeadsOut means that a symbolic link in a volume, or "..", leads out of it.
var errLeadsOut = errors.New("leads out of the volume")

// place is a file that a walk has reached. It stays that file even if another one gets its name.
type place struct {
	name string
	fd   int
	stat unix.Stat_t
}

func (p place) isDir() bool  { return p.stat.Mode&unix.S_IFMT == unix.S_IFDIR }
func (p place) isLink() bool { return p.stat.Mode&unix.S_IFMT == unix.S_IFLNK }

// pathWalk follows a path from descriptor to descriptor, one element at a time, because a pod can replace any part of the
// path meanwhile. It follows symbolic links itself and goes back (..) the way it came, so that it never leaves a volume:
//
//	on the machine   links are followed as the kernel does
//	in a volume      a link may lead to any file of this volume; one that is absolute or leads out is an error
type pathWalk struct {
	// start is the path of the first place.
	start  string
	places []place
	// volumeRoot is the index of the root of the volume that the walk is in, volume that volume; nil on the machine.
	volumeRoot int
	volume     *volume
	// volumes are those that the walk may enter.
	volumes []*volume
	links   int
}

// volume is a directory that a walk cannot leave.
type volume struct {
	// path is where it is mounted, without symbolic links.
	path     string
	readOnly bool
}

// walkFrom starts at path. It follows links that path itself has.
func walkFrom(path string) (*pathWalk, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	p := place{fd: fd}
	if err := unix.Fstat(fd, &p.stat); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &pathWalk{start: path, places: []place{p}}, nil
}

func (w *pathWalk) close() { w.cut(0) }

// cut drops all places but the first n.
func (w *pathWalk) cut(n int) {
	for _, p := range w.places[n:] {
		unix.Close(p.fd)
	}
	w.places = w.places[:n]
}

func (w *pathWalk) here() *place { return &w.places[len(w.places)-1] }

func (w *pathWalk) atStart() bool { return len(w.places) == 1 }

// path is the path of the current place, without symbolic links.
func (w *pathWalk) path() string {
	names := []string{w.start}
	for _, p := range w.places[1:] {
		names = append(names, p.name)
	}
	return filepath.Join(names...)
}

// replace makes root, which was mounted here, the current place.
func (w *pathWalk) replace(root int) error {
	fd, err := unix.FcntlInt(uintptr(root), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	unix.Close(w.here().fd)
	w.here().fd = fd
	return unix.Fstat(fd, &w.here().stat)
}

// to follows path. It calls missing, unless that is nil, to make an element that does not exist.
func (w *pathWalk) to(path string, missing func(name string, last bool) error) error {
	var names []string
	for name := range strings.SplitSeq(path, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	for i, name := range names {
		makeIt := func() error { return missing(name, i == len(names)-1) }
		if missing == nil {
			makeIt = nil
		}
		if err := w.step(name, makeIt); err != nil {
			return err
		}
	}
	return nil
}

func (w *pathWalk) step(name string, makeIt func() error) error {
	if name == ".." {
		return w.back()
	}
	next, err := openBelow(w.here().fd, name)
	if errors.Is(err, unix.ENOENT) && makeIt != nil {
		if err := makeIt(); err != nil {
			return err
		}
		next, err = openBelow(w.here().fd, name)
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: filepath.Join(w.path(), name), Err: err}
	}
	if next.isLink() {
		return w.follow(next)
	}
	w.places = append(w.places, next)
	w.enter()
	return nil
}

// enter records whether this is the root of a volume.
func (w *pathWalk) enter() {
	path := w.path()
	for _, v := range w.volumes {
		if v.path == path {
			w.volume, w.volumeRoot = v, len(w.places)-1
		}
	}
}

func (w *pathWalk) back() error {
	if len(w.places)-1 > w.volumeRoot {
		w.cut(len(w.places) - 1)
		return nil
	}
	if w.volume != nil {
		return errLeadsOut
	}
	return nil // the root's parent is the root
}

// follow goes where a symbolic link leads.
func (w *pathWalk) follow(link place) error {
	at := filepath.Join(w.path(), link.name)
	target, err := readLink(link.fd)
	unix.Close(link.fd)
	if err != nil {
		return &os.PathError{Op: "readlink", Path: at, Err: err}
	}
	if w.links++; w.links > maxLinks {
		return &os.PathError{Op: "open", Path: at, Err: unix.ELOOP}
	}
	if filepath.IsAbs(target) {
		if w.volume != nil {
			return errLeadsOut
		}
		w.cut(1)
	}
	err = w.to(target, nil)
	if errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("%s is a symbolic link to nothing", at)
	}
	return err
}

// openBelow opens a file of any type in dir, and does not follow a link.
func openBelow(dir int, name string) (place, error) {
	const flags = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	// With O_DIRECTORY first, so that the kernel mounts what is mounted on demand.
	fd, err := unix.Openat(dir, name, flags|unix.O_DIRECTORY, 0)
	if err == unix.ENOTDIR {
		fd, err = unix.Openat(dir, name, flags, 0)
	}
	if err != nil {
		return place{}, err
	}
	p := place{name: name, fd: fd}
	if err := unix.Fstat(fd, &p.stat); err != nil {
		unix.Close(fd)
		return place{}, err
	}
	return p, nil
}

func readLink(fd int) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// makeAt makes a directory or an empty file in dir, unless there is one already.
func makeAt(dir int, name string, isDir bool) error {
	var err error
	if isDir {
		err = unix.Mkdirat(dir, name, 0o755)
	} else {
		var fd int
		if fd, err = unix.Openat(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o666); err == nil {
			unix.Close(fd)
		}
	}
	if err == nil || err == unix.EEXIST {
		return nil
	}
	return &os.PathError{Op: "make", Path: name, Err: err}
}
