package volumes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

// makeEmptyDir makes a folder that every user of the pod may write to. It is prepared under another name and then
// renamed, so that a folder that exists is complete, and what containers have changed in it stays.
func makeEmptyDir(path string, setGroup groupSetter) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	// The name of a volume does not begin with a dot.
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if err := makeVolume(temporary); err != nil {
		return err
	}
	if err := os.Chmod(temporary, 0o777); err != nil {
		return err
	}
	if setGroup != nil {
		if err := setGroup(temporary); err != nil {
			return err
		}
	}
	return os.Rename(temporary, path)
}

// makeVolume makes the directory that a container sees. Only the server's user may enter those above it.
func makeVolume(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// wanted has, for each type of hostPath that must exist, the check of a file's mode and the noun for errors.
var wanted = map[corev1.HostPathType]struct {
	is   func(fs.FileMode) bool
	noun string
}{
	corev1.HostPathDirectory: {fs.FileMode.IsDir, "directory"},
	corev1.HostPathFile:      {fs.FileMode.IsRegular, "file"},
	corev1.HostPathSocket:    {func(m fs.FileMode) bool { return m&fs.ModeSocket != 0 }, "socket"},
	corev1.HostPathCharDev:   {func(m fs.FileMode) bool { return m&fs.ModeCharDevice != 0 }, "character device"},
	corev1.HostPathBlockDev: {func(m fs.FileMode) bool {
		return m&fs.ModeDevice != 0 && m&fs.ModeCharDevice == 0
	}, "block device"},
}

// isMissing reports whether a path without a type does not exist. In a cluster the container runtime would make a
// directory. A container that mounts it read-only finds an empty one, without a change on the machine.
func isMissing(h *corev1.HostPathVolumeSource) bool {
	if h.Type != nil && *h.Type != corev1.HostPathUnset {
		return false
	}
	_, err := os.Stat(h.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// ensureHostPath makes or checks a path of the machine, as the type says.
func ensureHostPath(h *corev1.HostPathVolumeSource) error {
	kind := corev1.HostPathUnset
	if h.Type != nil {
		kind = *h.Type
	}
	switch kind {
	case corev1.HostPathUnset:
		if _, err := os.Stat(h.Path); err != nil {
			return fmt.Errorf("hostPath: %w; use type DirectoryOrCreate or FileOrCreate to have it made", err)
		}
		return nil
	case corev1.HostPathDirectoryOrCreate:
		if err := os.MkdirAll(h.Path, 0o755); err != nil {
			return fmt.Errorf("hostPath: %w", err)
		}
		kind = corev1.HostPathDirectory
	case corev1.HostPathFileOrCreate:
		// O_EXCL leaves an existing file closed: it may be a FIFO, on which opening blocks, or a dangling link.
		f, err := os.OpenFile(h.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		switch {
		case err == nil:
			_ = f.Close()
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("hostPath: %w", err)
		}
		kind = corev1.HostPathFile
	}
	want, known := wanted[kind]
	if !known {
		return fmt.Errorf("hostPath type %q is not supported", kind)
	}
	info, err := os.Stat(h.Path)
	if err != nil {
		return fmt.Errorf("hostPath: %w", err)
	}
	if !want.is(info.Mode()) {
		return fmt.Errorf("hostPath type check failed: %s is not a %s", h.Path, want.noun)
	}
	return nil
}
