package service

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

func validatePorts(s *corev1.ServiceSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.Ports) == 0 && !IsHeadless(s) && !isExternalName(s) {
		errs = append(errs, field.Required(p, "must have at least one port"))
	}
	before := earlierPorts{sets.New[string](), sets.New[portKey](), sets.New[portKey]()}
	for i := range s.Ports {
		port, at := &s.Ports[i], p.Index(i)
		errs = append(errs, validatePort(port, len(s.Ports) > 1, at)...)
		errs = append(errs, refuseProtocol(s, port, at.Child("protocol"))...)
		if port.NodePort != 0 && !hasNodePorts(s) && s.Type == corev1.ServiceTypeClusterIP {
			errs = append(errs, field.Forbidden(at.Child("nodePort"), "is only for Services of type NodePort: remove it, or change the type"))
		}
		errs = append(errs, before.add(port, at)...)
	}
	return errs
}

type portKey struct {
	protocol corev1.Protocol
	port     int32
}

// earlierPorts are what the ports have that come before one.
type earlierPorts struct {
	names            sets.Set[string]
	ports, nodePorts sets.Set[portKey]
}

// add adds a port, and returns what an earlier one has already.
func (e earlierPorts) add(port *corev1.ServicePort, p *field.Path) (errs field.ErrorList) {
	number, node := portKey{port.Protocol, port.Port}, portKey{port.Protocol, port.NodePort}
	if port.Name != "" && e.names.Has(port.Name) {
		errs = append(errs, field.Duplicate(p.Child("name"), port.Name))
	}
	if e.ports.Has(number) {
		errs = append(errs, field.Duplicate(p, fmt.Sprintf("%s %d", port.Protocol, port.Port)))
	}
	if port.NodePort != 0 && e.nodePorts.Has(node) {
		errs = append(errs, field.Duplicate(p.Child("nodePort"), port.NodePort))
	}
	e.names.Insert(port.Name)
	e.ports.Insert(number)
	e.nodePorts.Insert(node)
	return errs
}

// refuseProtocol refuses what nothing would forward.
func refuseProtocol(s *corev1.ServiceSpec, port *corev1.ServicePort, p *field.Path) field.ErrorList {
	switch {
	case port.Protocol == corev1.ProtocolSCTP && !IsHeadless(s):
		return field.ErrorList{field.Forbidden(p, "SCTP is not forwarded here: use TCP or UDP, or clusterIP: None, by which clients find the pods themselves")}
	case port.Protocol == corev1.ProtocolUDP && s.Type == corev1.ServiceTypeNodePort:
		return field.ErrorList{field.Forbidden(p, "node ports are for TCP here: use the type ClusterIP for UDP")}
	}
	return nil
}

func validatePort(port *corev1.ServicePort, several bool, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case port.Name != "":
		errs = append(errs, check.Invalid(p.Child("name"), port.Name, validation.IsDNS1123Label(port.Name))...)
	case several:
		errs = append(errs, field.Required(p.Child("name"), "must be set where there are several ports"))
	}
	errs = append(errs, check.Invalid(p.Child("port"), port.Port, validation.IsValidPortNum(int(port.Port)))...)
	errs = append(errs, check.Among(port.Protocol, p.Child("protocol"), corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)...)
	target := p.Child("targetPort")
	if port.TargetPort.Type == intstr.String {
		errs = append(errs, check.Invalid(target, port.TargetPort.StrVal, validation.IsValidPortName(port.TargetPort.StrVal))...)
	} else {
		errs = append(errs, check.Invalid(target, port.TargetPort.IntVal, validation.IsValidPortNum(int(port.TargetPort.IntVal)))...)
	}
	if port.AppProtocol != nil {
		errs = append(errs, check.Invalid(p.Child("appProtocol"), *port.AppProtocol, validation.IsQualifiedName(*port.AppProtocol))...)
	}
	return errs
}
