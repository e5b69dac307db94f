package containers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func inNamespace(change func(*corev1.PodSpec)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Spec: corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst}}
	if change != nil {
		change(&pod.Spec)
	}
	return pod
}

func TestTheResolverFileOfAPod(t *testing.T) {
	const names = "search ns.svc.cluster.local svc.cluster.local cluster.local"
	config := &corev1.PodDNSConfig{Nameservers: []string{"192.0.2.53"}, Searches: []string{"example.com"},
		Options: []corev1.PodDNSConfigOption{{Name: "timeout", Value: ptr.To("1")}, {Name: "rotate"}}}
	for sentence, c := range map[string]struct {
		change func(*corev1.PodSpec)
		want   string
	}{
		"by default names of Services": {nil, "nameserver 10.244.0.1\n" + names + "\noptions ndots:5\n"},
		"the machine's names":          {func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSDefault }, "nameserver 10.244.0.1\n"},
		"its own beside them": {func(s *corev1.PodSpec) { s.DNSConfig = config },
			"nameserver 10.244.0.1\nnameserver 192.0.2.53\n" + names + " example.com\noptions ndots:5 timeout:1 rotate\n"},
		"its own alone": {func(s *corev1.PodSpec) { s.DNSPolicy, s.DNSConfig = corev1.DNSNone, config },
			"nameserver 192.0.2.53\nsearch example.com\noptions timeout:1 rotate\n"},
	} {
		if got := atMachine().resolverConfig(inNamespace(c.change)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", sentence, got, c.want)
		}
	}
}
