package services_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/services"
)

func named(namespace, name, addr string, ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.ServiceSpec{ClusterIP: addr, Ports: ports}}
}

func TestTheVariablesOfServices(t *testing.T) {
	https := corev1.ServicePort{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443}
	apiServer := named("default", "kubernetes", "10.96.0.1", https)
	mail := named("ns", "my-mail", "10.96.0.7", corev1.ServicePort{Name: "smtp-in", Protocol: corev1.ProtocolTCP, Port: 25}, corev1.ServicePort{Name: "log", Protocol: corev1.ProtocolUDP, Port: 514})
	alias := named("ns", "alias", "", https)
	alias.Spec.Type = corev1.ServiceTypeExternalName
	all := []*corev1.Service{mail, apiServer, named("ns", "headless", corev1.ClusterIPNone, https), alias, named("other", "far", "10.96.0.8", https)}
	ofAPIServer := []string{
		"KUBERNETES_SERVICE_HOST=10.96.0.1", "KUBERNETES_SERVICE_PORT=443", "KUBERNETES_SERVICE_PORT_HTTPS=443", "KUBERNETES_PORT=tcp://10.96.0.1:443",
		"KUBERNETES_PORT_443_TCP=tcp://10.96.0.1:443", "KUBERNETES_PORT_443_TCP_PROTO=tcp", "KUBERNETES_PORT_443_TCP_PORT=443", "KUBERNETES_PORT_443_TCP_ADDR=10.96.0.1",
	}
	ofMail := []string{
		"MY_MAIL_SERVICE_HOST=10.96.0.7", "MY_MAIL_SERVICE_PORT=25", "MY_MAIL_SERVICE_PORT_SMTP_IN=25", "MY_MAIL_SERVICE_PORT_LOG=514", "MY_MAIL_PORT=tcp://10.96.0.7:25",
		"MY_MAIL_PORT_25_TCP=tcp://10.96.0.7:25", "MY_MAIL_PORT_25_TCP_PROTO=tcp", "MY_MAIL_PORT_25_TCP_PORT=25", "MY_MAIL_PORT_25_TCP_ADDR=10.96.0.7",
		"MY_MAIL_PORT_514_UDP=udp://10.96.0.7:514", "MY_MAIL_PORT_514_UDP_PROTO=udp", "MY_MAIL_PORT_514_UDP_PORT=514", "MY_MAIL_PORT_514_UDP_ADDR=10.96.0.7",
	}
	for sentence, c := range map[string]struct {
		links *bool
		want  []string
	}{
		"by default":                 {nil, append(ofAPIServer, ofMail...)},
		"asked for":                  {ptr.To(true), append(ofAPIServer, ofMail...)},
		"only the API server's else": {ptr.To(false), ofAPIServer},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}, Spec: corev1.PodSpec{EnableServiceLinks: c.links}}
		if diff := cmp.Diff(c.want, services.Variables(pod, all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
	own := named("ns", "kubernetes", "10.96.0.9", https)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}
	got := services.Variables(pod, []*corev1.Service{own, apiServer})
	if got[0] != "KUBERNETES_SERVICE_HOST=10.96.0.1" || got[len(got)/2] != "KUBERNETES_SERVICE_HOST=10.96.0.9" {
		t.Errorf("the Service of the pod's own namespace does not win: %v", got)
	}
}
