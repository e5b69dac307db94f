package runtime_test

import (
	"testing"

	"github.com/stint-dev/stint/internal/node/runtime"
)

func TestSysctls(t *testing.T) {
	for name, want := range map[string]bool{
		"kernel.shm_rmid_forced": true, "kernel/shm_rmid_forced": true, "fs.mqueue.msg_max": true, "fs/mqueue/msg_max": true,
		"kernel.hostname": false, "net.ipv4.ip_forward": false, "fs.mqueue./../../kernel/core_pattern": false, "fs.mqueue": false,
		"fs/mqueue/../../kernel/core_pattern": false, "": false,
	} {
		if got := runtime.IsIPCSysctl(runtime.SysctlName(name)); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}
