package services

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kubernetes is the Service by which pods find the API server.
const kubernetes = "kubernetes"

// Variables returns the environment variables by which a pod finds Services, as NAME=value: those of its namespace, if it has
// enableServiceLinks, and the API server's in any case.
func Variables(pod *corev1.Pod, services []*corev1.Service) []string {
	links := pod.Spec.EnableServiceLinks == nil || *pod.Spec.EnableServiceLinks
	var found []*corev1.Service
	for _, s := range services {
		isAPIServer := s.Name == kubernetes && s.Namespace == metav1.NamespaceDefault
		if hasAddress(s) && (isAPIServer || links && s.Namespace == pod.Namespace) {
			found = append(found, s)
		}
	}
	// Where the pod's namespace has a Service of the same name as the API server's, its variables are the last and so win.
	slices.SortFunc(found, func(a, b *corev1.Service) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(nearness(pod, a), nearness(pod, b)))
	})
	var all []string
	for _, s := range found {
		all = append(all, variablesOf(s)...)
	}
	return all
}

func hasAddress(s *corev1.Service) bool {
	return s.Spec.ClusterIP != "" && s.Spec.ClusterIP != corev1.ClusterIPNone && s.Spec.Type != corev1.ServiceTypeExternalName && len(s.Spec.Ports) > 0
}

func nearness(pod *corev1.Pod, s *corev1.Service) int {
	if s.Namespace == pod.Namespace {
		return 1
	}
	return 0
}

// variablesOf are those that Kubernetes sets: NAME_SERVICE_… for programs, NAME_PORT… as Docker's links had them.
func variablesOf(s *corev1.Service) []string {
	name, host, first := variableName(s.Name), s.Spec.ClusterIP, s.Spec.Ports[0]
	all := []string{name + "_SERVICE_HOST=" + host, fmt.Sprintf("%s_SERVICE_PORT=%d", name, first.Port)}
	for _, p := range s.Spec.Ports {
		if p.Name != "" {
			all = append(all, fmt.Sprintf("%s_SERVICE_PORT_%s=%d", name, variableName(p.Name), p.Port))
		}
	}
	all = append(all, name+"_PORT="+urlOf(host, &first))
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		prefix := fmt.Sprintf("%s_PORT_%d_%s", name, p.Port, p.Protocol)
		all = append(all,
			prefix+"="+urlOf(host, p),
			prefix+"_PROTO="+strings.ToLower(string(p.Protocol)),
			fmt.Sprintf("%s_PORT=%d", prefix, p.Port),
			prefix+"_ADDR="+host)
	}
	return all
}

func urlOf(host string, p *corev1.ServicePort) string {
	return fmt.Sprintf("%s://%s:%d", strings.ToLower(string(p.Protocol)), host, p.Port)
}

func variableName(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }
