package registry

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateProbesAndHooks: init containers have neither, unless they run on as sidecars.
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
	errs = append(errs, validateHook(c.Lifecycle.PostStart, at.Child("postStart"))...)
	errs = append(errs, validateHook(c.Lifecycle.PreStop, at.Child("preStop"))...)
	if c.Lifecycle.StopSignal != nil && c.pod.OS == nil {
		errs = append(errs, field.Forbidden(at.Child("stopSignal"), "may not be set for containers with empty `spec.os.name`"))
	}
	return errs
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

func validateHook(h *corev1.LifecycleHandler, p *field.Path) field.ErrorList {
	if h == nil {
		return nil
	}
	return validateHandlers(handlers{exec: h.Exec, httpGet: h.HTTPGet, tcpSocket: h.TCPSocket, sleep: h.Sleep}, p)
}

// handlers are the ways to probe a container or to tell it something.
type handlers struct {
	exec      *corev1.ExecAction
	httpGet   *corev1.HTTPGetAction
	tcpSocket *corev1.TCPSocketAction
	grpc      *corev1.GRPCAction
	sleep     *corev1.SleepAction
}

func validateHandlers(h handlers, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	count := 0
	if h.exec != nil {
		count++
		if len(h.exec.Command) == 0 {
			errs = append(errs, field.Required(p.Child("exec", "command"), "must be set"))
		}
	}
	if h.httpGet != nil {
		count++
		errs = append(errs, validateHTTPGet(h.httpGet, p.Child("httpGet"))...)
	}
	if h.tcpSocket != nil {
		count++
		errs = append(errs, validatePortRef(h.tcpSocket.Port, p.Child("tcpSocket", "port"))...)
	}
	if h.grpc != nil {
		count++
		errs = append(errs, validatePort(h.grpc.Port, p.Child("grpc", "port"))...)
	}
	if h.sleep != nil {
		count++
		errs = append(errs, apivalidation.ValidateNonnegativeField(h.sleep.Seconds, p.Child("sleep", "seconds"))...)
	}
	switch {
	case count == 0:
		errs = append(errs, field.Required(p, "must specify a handler type"))
	case count > 1:
		errs = append(errs, field.Forbidden(p, "may not specify more than 1 handler type"))
	}
	return errs
}

func validateHTTPGet(g *corev1.HTTPGetAction, p *field.Path) field.ErrorList {
	errs := requireName(g.Path, p.Child("path"))
	errs = append(errs, validatePortRef(g.Port, p.Child("port"))...)
	errs = append(errs, among(g.Scheme, p.Child("scheme"), corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
	for i, header := range g.HTTPHeaders {
		for _, msg := range validation.IsHTTPHeaderName(header.Name) {
			errs = append(errs, field.Invalid(p.Child("httpHeaders").Index(i).Child("name"), header.Name, msg))
		}
	}
	return errs
}

// validatePortRef judges a port by number or by name.
func validatePortRef(port intstr.IntOrString, p *field.Path) field.ErrorList {
	if port.Type == intstr.Int {
		return validatePort(port.IntVal, p)
	}
	var errs field.ErrorList
	for _, msg := range validation.IsValidPortName(port.StrVal) {
		errs = append(errs, field.Invalid(p, port.StrVal, msg))
	}
	return errs
}
