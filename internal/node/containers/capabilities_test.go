package containers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestCapabilities(t *testing.T) {
	const all = 1<<41 - 1
	for name, test := range map[string]struct {
		add, drop []corev1.Capability
		want      uint64
	}{
		"none said":              {nil, nil, 0xa00425fb & ^uint64(1<<27)},
		"added":                  {[]corev1.Capability{"SYS_ADMIN"}, nil, 0xa00425fb | 1<<21},
		"dropped":                {nil, []corev1.Capability{"CHOWN", "cap_kill"}, 0xa00425fb &^ (1 | 1<<5)},
		"all dropped, one added": {[]corev1.Capability{"NET_BIND_SERVICE"}, []corev1.Capability{"ALL"}, 1 << 10},
		"all added":              {[]corev1.Capability{"ALL"}, nil, all},
		"all added, one dropped": {[]corev1.Capability{"ALL"}, []corev1.Capability{"SYS_BOOT"}, all &^ (1 << 22)},
		"all added and dropped":  {[]corev1.Capability{"all"}, []corev1.Capability{"ALL"}, 0},
		"added and dropped":      {[]corev1.Capability{"SYS_TIME"}, []corev1.Capability{"SYS_TIME"}, 0xa00425fb},
	} {
		c := &corev1.Container{SecurityContext: &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: test.add, Drop: test.drop}}}
		if got, err := capabilitiesOf(c); err != nil || got != test.want {
			t.Errorf("%s: %#x, %v, want %#x", name, got, err, test.want)
		}
	}
	c := &corev1.Container{SecurityContext: &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"FLY"}}}}
	if _, err := capabilitiesOf(c); err == nil {
		t.Error("FLY is a capability")
	}
}
