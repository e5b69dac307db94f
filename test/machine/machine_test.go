package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAMachineBoots(t *testing.T) {
	for name, tt := range map[string]struct {
		cgroups       int
		mounted, file string
	}{
		"cgroups of version 1": {cgroups: 1, mounted: "cgroup on /sys/fs/cgroup/memory type cgroup ", file: "/sys/fs/cgroup/memory/tasks"},
		"cgroups of version 2": {cgroups: 2, mounted: "cgroup2 on /sys/fs/cgroup type cgroup2 ", file: "/sys/fs/cgroup/cgroup.controllers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			brought := filepath.Join(t.TempDir(), "brought")
			if err := os.WriteFile(brought, []byte("it's here\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			o := Options{Cgroups: tt.cgroups, Files: map[string]string{"/opt/there": brought}}
			script := `cat /opt/there /proc/filesystems "$0" && mount && echo "to the end" && exit 7`
			output, messages, status := boot(t, o, []string{"sh", "-c", script, tt.file})
			if status != 7 {
				t.Errorf("ended with status %d: %s", status, messages)
			}
			for _, want := range []string{"it's here\n", "\nnodev\toverlay\n", "\n" + tt.mounted, "\nto the end\n"} {
				if !strings.Contains(output, want) {
					t.Errorf("%q is not in what it wrote:\n%s", want, output)
				}
			}
		})
	}
}
