package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// machineMounts are the files of the machine that a container sees in addition to its volumes.
func machineMounts(root *runtime.Root) []runtime.Mount {
	var mounts []runtime.Mount
	if root.HostIPC {
		mounts = append(mounts, runtime.Mount{HostPath: "/dev/shm", ContainerPath: "/dev/shm"})
	}
	if root.Privileged {
		mounts = append(mounts, machineDevices()...)
	}
	return mounts
}

// ownDevices are the entries of /dev of which every container has its own.
var ownDevices = map[string]bool{
	"null": true, "zero": true, "full": true, "random": true, "urandom": true, "tty": true, "console": true, "ptmx": true,
	"pts": true, "shm": true, "mqueue": true,
}

// machineDevices are the device files of the machine. A file that disappears while they are listed is left out.
func machineDevices() []runtime.Mount {
	var mounts []runtime.Mount
	_ = filepath.WalkDir("/dev", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case filepath.Dir(path) == "/dev" && ownDevices[entry.Name()]:
			if entry.IsDir() {
				return fs.SkipDir
			}
		case isDevice(path):
			mounts = append(mounts, runtime.Mount{HostPath: path, ContainerPath: path})
		}
		return nil
	})
	return mounts
}

// isDevice looks at the file itself: in a shadow, device files are mounted on plain files, and the type in the directory
// entry is that of the plain file.
func isDevice(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeDevice != 0
}
