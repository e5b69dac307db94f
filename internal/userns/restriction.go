package userns

import (
	"os"
	"path/filepath"
	"strings"
)

// restrictions are settings of a machine that keep users from making or using user namespaces.
var restrictions = []struct{ setting, value, remedy string }{
	{"user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"},
	{"kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"},
	{"kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for stint that allows userns"},
}

// Restriction says which setting of this machine prevents user namespaces and how root can change it; empty if none is
// known.
func Restriction() string { return restriction("/proc/sys") }

func restriction(sysctls string) string {
	for _, r := range restrictions {
		value, err := os.ReadFile(filepath.Join(sysctls, r.setting))
		if err == nil && strings.TrimSpace(string(value)) == r.value {
			return "; this machine restricts user namespaces, which its root can change with " + r.remedy
		}
	}
	return ""
}
