package pod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// validateProbesAndHooks validates probes and lifecycle hooks. Init containers may have them only if they are sidecars.
func validateProbesAndHooks(c container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, probe := range []struct {
		field string
		*corev1.Probe
	}{{"livenessProbe", c.LivenessProbe}, {"readinessProbe", c.ReadinessProbe}, {"startupProbe", c.StartupProbe}} {
		at := p.Child(probe.field)
		switch {
		case probe.Probe == nil:
		case c.init && !isSidecar(c.Container):
			errs = append(errs, field.Forbidden(at, "may not be set for init containers without restartPolicy=Always"))
		default:
			errs = append(errs, validateProbe(probe.Probe, probe.field, at)...)
		}
	}
	if c.Lifecycle == nil {
		return errs
	}
	at := p.Child("lifecycle")
	if c.init && !isSidecar(c.Container) {
		return append(errs, field.Forbidden(at, "may not be set for init containers without restartPolicy=Always"))
	}
	errs = append(errs, validateHook(c.Lifecycle.PostStart, c.pod, at.Child("postStart"))...)
	errs = append(errs, validateHook(c.Lifecycle.PreStop, c.pod, at.Child("preStop"))...)
	return append(errs, validateStopSignal(c, at.Child("stopSignal"))...)
}

func validateStopSignal(c container, p *field.Path) field.ErrorList {
	signal := c.Lifecycle.StopSignal
	if signal == nil {
		return nil
	}
	if c.pod.OS == nil {
		return field.ErrorList{field.Forbidden(p, "may not be set for containers with empty `spec.os.name`")}
	}
	if _, known := runtime.SignalNumber(string(*signal)); !known {
		return field.ErrorList{field.Invalid(p, *signal, "is not the name of a signal: write it as SIGTERM or SIGRTMIN+1")}
	}
	return nil
}

func validateProbe(probe *corev1.Probe, name string, p *field.Path) field.ErrorList {
	h := &probe.ProbeHandler
	errs := validateHandlers(handlers{exec: h.Exec, httpGet: h.HTTPGet, tcpSocket: h.TCPSocket, grpc: h.GRPC}, p)
	for _, number := range []struct {
		field string
		value int32
	}{
		{"initialDelaySeconds", probe.InitialDelaySeconds}, {"timeoutSeconds", probe.TimeoutSeconds},
		{"periodSeconds", probe.PeriodSeconds}, {"successThreshold", probe.SuccessThreshold},
		{"failureThreshold", probe.FailureThreshold},
	} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(number.value), p.Child(number.field))...)
	}
	if name != "readinessProbe" && probe.SuccessThreshold != 1 {
		errs = append(errs, field.Invalid(p.Child("successThreshold"), probe.SuccessThreshold, "must be 1"))
	}
	if g := probe.TerminationGracePeriodSeconds; g != nil {
		at := p.Child("terminationGracePeriodSeconds")
		if *g <= 0 {
			errs = append(errs, field.Invalid(at, *g, "must be greater than 0"))
		}
		if name == "readinessProbe" {
			errs = append(errs, field.Invalid(at, *g, "must not be set for readinessProbes"))
		}
	}
	return errs
}

func validateHook(h *corev1.LifecycleHandler, pod *corev1.PodSpec, p *field.Path) field.ErrorList {
	if h == nil {
		return nil
	}
	errs := validateHandlers(handlers{exec: h.Exec, httpGet: h.HTTPGet, tcpSocket: h.TCPSocket, sleep: h.Sleep}, p)
	if grace := ptr.Deref(pod.TerminationGracePeriodSeconds, 0); h.Sleep != nil && (h.Sleep.Seconds < 0 || h.Sleep.Seconds > grace) {
		errs = append(errs, field.Invalid(p.Child("sleep"), h.Sleep.Seconds,
			fmt.Sprintf("must be between 0 and terminationGracePeriodSeconds (%d)", grace)))
	}
	return errs
}

// handlers are the actions of a probe or a lifecycle hook.
type handlers struct {
	exec      *corev1.ExecAction
	httpGet   *corev1.HTTPGetAction
	tcpSocket *corev1.TCPSocketAction
	grpc      *corev1.GRPCAction
	sleep     *corev1.SleepAction
}

// validateHandlers validates the first handler that is set, and requires that no other one is set.
func validateHandlers(h handlers, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	for _, way := range []struct {
		field    string
		isSet    bool
		validate func(*field.Path) field.ErrorList
	}{
		{"exec", h.exec != nil, func(p *field.Path) field.ErrorList { return validateCommand(h.exec, p) }},
		{"httpGet", h.httpGet != nil, func(p *field.Path) field.ErrorList { return validateHTTPGet(h.httpGet, p) }},
		{"tcpSocket", h.tcpSocket != nil, func(p *field.Path) field.ErrorList { return validatePortRef(h.tcpSocket.Port, p.Child("port")) }},
		{"grpc", h.grpc != nil, func(p *field.Path) field.ErrorList { return validatePort(h.grpc.Port, p.Child("port")) }},
		{"sleep", h.sleep != nil, func(*field.Path) field.ErrorList { return nil }},
	} {
		switch {
		case !way.isSet:
		case found:
			errs = append(errs, field.Forbidden(p.Child(way.field), "may not specify more than 1 handler type"))
		default:
			found = true
			errs = append(errs, way.validate(p.Child(way.field))...)
		}
	}
	if !found {
		errs = append(errs, field.Required(p, "must specify a handler type"))
	}
	return errs
}

func validateCommand(exec *corev1.ExecAction, p *field.Path) field.ErrorList {
	if len(exec.Command) == 0 {
		return field.ErrorList{field.Required(p.Child("command"), "must be set")}
	}
	return nil
}

func validateHTTPGet(g *corev1.HTTPGetAction, p *field.Path) field.ErrorList {
	errs := requireName(g.Path, p.Child("path"))
	errs = append(errs, validatePortRef(g.Port, p.Child("port"))...)
	errs = append(errs, check.Supported(g.Scheme, p.Child("scheme"), corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
	for i, header := range g.HTTPHeaders {
		errs = append(errs, check.Invalid(p.Child("httpHeaders").Index(i).Child("name"), header.Name, validation.IsHTTPHeaderName(header.Name))...)
	}
	return errs
}

// validatePortRef validates a port number or name.
func validatePortRef(port intstr.IntOrString, p *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return validatePort(port.IntVal, p)
	}
	return check.Invalid(p, port.StrVal, validation.IsValidPortName(port.StrVal))
}
