package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// machineMounts are what a container sees of the machine beside its volumes.
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

// What every container has one of its own of in /dev.
var ownDevices = map[string]bool{
	"null": true, "zero": true, "full": true, "random": true, "urandom": true, "tty": true, "console": true, "ptmx": true,
	"pts": true, "shm": true, "mqueue": true,
}

// machineDevices are the device files of the machine. What goes while they are listed is left out.
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

// isDevice asks for the file itself: the directory knows of a file that a device is mounted on, as they are in a shadow.
func isDevice(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeDevice != 0
}
