package runtime

import (
	"slices"
	"strings"
)

// ipcSysctls are the kernel parameters that each namespace of messages and semaphores has of its own, beside fs.mqueue.
var ipcSysctls = []string{
	"kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm",
	"kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg",
}

// SysctlName is the name of a kernel parameter with its parts separated by dots. The first of the two characters tells
// which one they are in name.
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

// IsIPCSysctl reports whether a kernel parameter, whose name has dots, can be another one in each container.
func IsIPCSysctl(name string) bool {
	return strings.HasPrefix(name, "fs.mqueue.") && strings.Count(name, ".") == 2 && !strings.Contains(name, "/") ||
		slices.Contains(ipcSysctls, name)
}
