package volumes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

// makeEmptyDir makes a folder that every user of the pod may write to. It is put together temporary, so that one that is there is
// as it shall be, and what containers have made of it since then stays.
func makeEmptyDir(path string, setGroup groupSetter) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	// No volume has such a name.
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

// makeVolume makes the directory that a container sees. Those above it are for the server's user alone.
func makeVolume(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// wanted tells for each kind of hostPath that must be there what a file's mode has to say.
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

// isMissing reports whether a path may be missing, and is. On a cluster the container runtime then makes a directory; who
// only reads finds it empty, and needs none on the machine.
func isMissing(h *corev1.HostPathVolumeSource) bool {
	if h.Type != nil && *h.Type != corev1.HostPathUnset {
		return false
	}
	_, err := os.Stat(h.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// ensureHostPath makes or checks a path of the machine, as its type asks.
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
		// What is there is not opened: it may be a FIFO, where one waits for ever, or a link to what is not there.
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
