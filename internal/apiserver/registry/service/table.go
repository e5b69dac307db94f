package service

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

var (
	specDoc = corev1.ServiceSpec{}.SwaggerDoc()
	columns = []metav1.TableColumnDefinition{
		kinds.NameColumn,
		column("Type", specDoc["type"]),
		column("Cluster-IP", specDoc["clusterIP"]),
		column("External-IP", specDoc["externalIPs"]),
		column("Port(s)", specDoc["ports"]),
		kinds.AgeColumn,
		{Name: "Selector", Type: "string", Priority: 1, Description: specDoc["selector"]},
	}
)

func column(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
}

func row(obj runtime.Object, now time.Time) []any {
	svc := obj.(*corev1.Service)
	s := &svc.Spec
	external := s.ExternalName
	if !isExternalName(s) {
		external = ""
	}
	return []any{
		svc.Name, string(s.Type), kinds.OrNone(s.ClusterIP), kinds.OrNone(external), kinds.OrNone(portsCell(s.Ports)),
		kinds.Age(svc.CreationTimestamp, now), labels.FormatLabels(s.Selector),
	}
}

func portsCell(ports []corev1.ServicePort) string {
	cells := make([]string, len(ports))
	for i, p := range ports {
		cells[i] = fmt.Sprintf("%d/%s", p.Port, p.Protocol)
		if p.NodePort != 0 {
			cells[i] = fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol)
		}
	}
	return strings.Join(cells, ",")
}
