package containers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestHostname(t *testing.T) {
	long := strings.Repeat("a", 62) + "-b"
	for what, tc := range map[string]struct {
		name string
		spec corev1.PodSpec
		want string
	}{
		"the pod's name":                  {"pod", corev1.PodSpec{}, "pod"},
		"a long name is cut":              {long, corev1.PodSpec{}, long[:62]},
		"its own":                         {"pod", corev1.PodSpec{Hostname: "own"}, "own"},
		"a subdomain alone has no effect": {"pod", corev1.PodSpec{Subdomain: "sub"}, "pod"},
		"with its domain":                 {"pod", corev1.PodSpec{Hostname: "own", Subdomain: "sub", SetHostnameAsFQDN: ptr.To(true)}, "own.sub.ns.svc.cluster.local"},
		"no domain without a subdomain":   {"pod", corev1.PodSpec{SetHostnameAsFQDN: ptr.To(true)}, "pod"},
		"another one for all": {"pod", corev1.PodSpec{Hostname: "own", Subdomain: "sub", SetHostnameAsFQDN: ptr.To(true),
			HostnameOverride: ptr.To("other.name")}, "other.name"},
	} {
		api := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: tc.name, Namespace: "ns"}, Spec: tc.spec}
		if got := hostname(api); got != tc.want || checkHostname(api) != nil {
			t.Errorf("%s: %q, %v", what, got, checkHostname(api))
		}
	}
	api := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("a", 40), Namespace: "ns"},
		Spec: corev1.PodSpec{Subdomain: "sub", SetHostnameAsFQDN: ptr.To(true)}}
	if err := checkHostname(api); err == nil || !strings.Contains(err.Error(), "(65 characters, at most 64)") {
		t.Errorf("too long: %v", err)
	}
}
