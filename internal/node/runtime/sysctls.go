package runtime

import (
	"slices"
	"strings"
)

// ipcSysctls are the kernel parameters that each IPC namespace has of its own, besides fs.mqueue.
var ipcSysctls = []string{
	"kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
	"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg",
}

// SysctlName returns the name of a kernel parameter with dots between its parts. Name may have slashes instead: the
// first dot or slash in it is the separator.
func SysctlName(name string) string {
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '/' {
		return strings.Map(func(r rune) rune {
			switch r {
			case '/':
				return '.'
			case '.':
				return '/'
			}
			return r
		}, name)
	}
	return name
}

// IsIPCSysctl reports whether a kernel parameter, named with dots, can have another value in each container.
func IsIPCSysctl(name string) bool {
	return strings.HasPrefix(name, "fs.mqueue.") && strings.Count(name, ".") == 2 && !strings.Contains(name, "/") ||
		slices.Contains(ipcSysctls, name)
}
