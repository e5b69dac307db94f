package layer

import (
	"archive/tar"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// attributes are what a file has beside its content.
type attributes struct {
	mode     uint32
	uid, gid int
	// owned: the file gets uid and gid.
	owned    bool
	modified time.Time
	xattrs   map[string]string
}

// maxID is the largest user or group there can be; the one above means none.
const maxID = math.MaxUint32 - 1

const xattrPrefix = "SCHILY.xattr."

func attributesOf(h *tar.Header, owned bool) (attributes, error) {
	a := attributes{mode: uint32(h.Mode) & 0o7777, uid: h.Uid, gid: h.Gid, owned: owned, modified: bounded(h.ModTime)}
	if owned && (h.Uid < 0 || h.Uid > maxID || h.Gid < 0 || h.Gid > maxID) {
		return a, fmt.Errorf("its owner %d:%d cannot be: ids are from 0 to %d", h.Uid, h.Gid, maxID)
	}
	for key, value := range h.PAXRecords {
		name, ok := strings.CutPrefix(key, xattrPrefix)
		if !ok || !keepsXattr(name) {
			continue
		}
		if a.xattrs == nil {
			a.xattrs = map[string]string{}
		}
		a.xattrs[name] = value
	}
	return a, nil
}

// keepsXattr leaves out what overlays and the machine's own security would take orders from.
func keepsXattr(name string) bool {
	return name == "security.capability" ||
		strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "user.overlay.") && name != "user.overlay"
}

// bounded keeps times within what file systems can store.
func bounded(t time.Time) time.Time {
	const latest = 1 << 34
	if t.Unix() < 0 || t.Unix() >= latest {
		return time.Unix(0, 0)
	}
	return t
}

// apply sets the attributes of name in dir, which is no link to the outside: links themselves get them.
func (a attributes) apply(dir *os.File, name string, isLink bool) error {
	fd := int(dir.Fd())
	if a.owned {
		if err := unix.Fchownat(fd, name, a.uid, a.gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return fmt.Errorf("give it to %d:%d: %w", a.uid, a.gid, err)
		}
	}
	if !isLink {
		if err := a.applyToFile(fd, name); err != nil {
			return err
		}
	}
	when := unix.NsecToTimespec(a.modified.UnixNano())
	return unix.UtimesNanoAt(fd, name, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW)
}

// applyToFile comes after the change of the owner, which takes set-user-ID bits and capabilities away.
func (a attributes) applyToFile(dir int, name string) error {
	if err := unix.Fchmodat(dir, name, a.mode, 0); err != nil {
		return err
	}
	if len(a.xattrs) == 0 {
		return nil
	}
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for key, value := range a.xattrs {
		err := unix.Fsetxattr(fd, key, []byte(value), 0)
		if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("set its attribute %s: %w", key, err)
		}
	}
	return nil
}
