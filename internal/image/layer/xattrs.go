package layer

import (
	"archive/tar"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

const xattrPrefix = "SCHILY.xattr."

// xattrsOf returns the extended attributes of an entry that are kept.
func xattrsOf(h *tar.Header) map[string]string {
	var all map[string]string
	for key, value := range h.PAXRecords {
		name, ok := strings.CutPrefix(key, xattrPrefix)
		if !ok || !keepsXattr(name) {
			continue
		}
		if all == nil {
			all = map[string]string{}
		}
		all[name] = value
	}
	return all
}

// keepsXattr reports whether an extended attribute is kept. Those that overlayfs or security modules of this machine would
// obey are not.
func keepsXattr(name string) bool {
	return name == "security.capability" ||
		strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "user.overlay.") && name != "user.overlay"
}

func (a attributes) setXattrs(dir int, name string) error {
	if len(a.xattrs) == 0 {
		return nil
	}
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for key, value := range a.xattrs {
		// An attribute that the file system does not support, or that this user may not set, is left out.
		err := unix.Fsetxattr(fd, key, []byte(value), 0)
		if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("set its attribute %s: %w", key, err)
		}
	}
	return nil
}

// readXattrs returns the extended attributes of an open file, without those that keepsXattr refuses.
func readXattrs(fd int) (map[string]string, error) {
	list, err := sized(func(b []byte) (int, error) { return unix.Flistxattr(fd, b) })
	if err != nil || list == "" {
		return nil, err
	}
	all := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		if !keepsXattr(name) {
			continue
		}
		all[name], err = sized(func(b []byte) (int, error) { return unix.Fgetxattr(fd, name, b) })
		if err != nil {
			return nil, fmt.Errorf("read its attribute %s: %w", name, err)
		}
	}
	return all, nil
}

// sized calls read for the length first, and then for the value. On a file system without extended attributes that is "".
func sized(read func([]byte) (int, error)) (string, error) {
	n, err := read(nil)
	if errors.Is(err, unix.ENOTSUP) || err == nil && n == 0 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	b := make([]byte, n)
	n, err = read(b)
	if err != nil {
		return "", err
	}
	return string(b[:n]), nil
}

// removeXattrs removes the extended attributes of an open file that are not in keep.
func removeXattrs(fd int, keep map[string]string) error {
	all, err := readXattrs(fd)
	if err != nil {
		return err
	}
	for name := range all {
		if _, ok := keep[name]; ok {
			continue
		}
		if err := unix.Fremovexattr(fd, name); err != nil {
			return fmt.Errorf("remove its attribute %s: %w", name, err)
		}
	}
	return nil
}
