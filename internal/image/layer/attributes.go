package layer

import (
	"archive/tar"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// attributes are what a file has besides its content.
type attributes struct {
	mode     uint32
	uid, gid int
	// owned reports whether apply sets uid and gid.
	owned    bool
	modified time.Time
	xattrs   map[string]string
}

// maxID is the largest valid user or group ID. To the kernel, the next one means none.
const maxID = math.MaxUint32 - 1

func attributesOf(h *tar.Header, owned bool) (attributes, error) {
	a := attributes{mode: uint32(h.Mode) & 0o7777, uid: h.Uid, gid: h.Gid, owned: owned, modified: bounded(h.ModTime)}
	if owned && (h.Uid < 0 || h.Uid > maxID || h.Gid < 0 || h.Gid > maxID) {
		return a, fmt.Errorf("its owner %d:%d is not valid: IDs are from 0 to %d", h.Uid, h.Gid, maxID)
	}
	a.xattrs = xattrsOf(h)
	return a, nil
}

// attributesOfFile returns those of an open directory or regular file.
func attributesOfFile(f *os.File) (attributes, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return attributes{}, err
	}
	a := attributesOfStat(s)
	var err error
	a.xattrs, err = readXattrs(int(f.Fd()))
	return a, err
}

func attributesOfStat(s unix.Stat_t) attributes {
	return attributes{mode: s.Mode & 0o7777, uid: int(s.Uid), gid: int(s.Gid), modified: time.Unix(s.Mtim.Unix())}
}

// keepOwner has apply set the owner only if it differs from that in s, as even setting the same owner may need rights.
func (a *attributes) keepOwner(s unix.Stat_t) { a.owned = a.uid != int(s.Uid) || a.gid != int(s.Gid) }

// bounded returns t, or the beginning of 1970 if not all file systems can store t.
func bounded(t time.Time) time.Time {
	const latest = 1 << 34
	if t.Unix() < 0 || t.Unix() >= latest {
		return time.Unix(0, 0)
	}
	return t
}

// apply sets the attributes of name in dir. If that is a symbolic link, isLink must be true: then the link itself gets them,
// as far as links have any. The order matters: changing the owner clears set-user-ID bits and capabilities, and a mode
// can forbid setting extended attributes.
func (a attributes) apply(dir *os.File, name string, isLink bool) error {
	fd := int(dir.Fd())
	if a.owned {
		if err := a.setOwner(fd, name); err != nil {
			return err
		}
	}
	if !isLink {
		if err := a.setXattrs(fd, name); err != nil {
			return err
		}
		if err := unix.Fchmodat(fd, name, a.mode, 0); err != nil {
			return err
		}
	}
	when := unix.NsecToTimespec(a.modified.UnixNano())
	return unix.UtimesNanoAt(fd, name, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW)
}

func (a attributes) setOwner(dir int, name string) error {
	err := unix.Fchownat(dir, name, a.uid, a.gid, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.EINVAL): // The user namespace does not have this ID.
		return fmt.Errorf("its owner is %d:%d, and this user does not have both of these IDs: "+
			"add subordinate ids for this user in /etc/subuid and /etc/subgid", a.uid, a.gid)
	case err != nil:
		return fmt.Errorf("set its owner to %d:%d: %w", a.uid, a.gid, err)
	}
	return nil
}
