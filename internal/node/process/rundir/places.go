package rundir

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// places are the directories where run directories may be. They do not depend on the environment, because a control plane
// must find the host that another one has started.
func places(uid int) []string {
	own := fmt.Sprintf("/run/user/%d", uid)
	if uid == 0 {
		own = "/run"
	}
	return []string{own, "/dev/shm", "/tmp"}
}

func inMemory(dir string) bool {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return false
	}
	return stat.Type == unix.TMPFS_MAGIC || stat.Type == unix.RAMFS_MAGIC
}
