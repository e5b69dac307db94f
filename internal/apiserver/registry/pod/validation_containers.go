package pod

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// container is a container with the parts of its pod on which its validation depends.
type container struct {
	*corev1.Container
	pod     *corev1.PodSpec
	volumes map[string]*corev1.Volume
	// init is true for init containers, including sidecars.
	init bool
}

// isSidecar reports whether an init container keeps running while the containers run.
func isSidecar(init *corev1.Container) bool {
	return init.RestartPolicy != nil && *init.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func validateContainers(s *corev1.PodSpec, volumes map[string]*corev1.Volume, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sets.New[string]()
	if len(s.Containers) == 0 {
		errs = append(errs, field.Required(p.Child("containers"), "a pod needs at least one container"))
	}
	for i := range s.Containers {
		c := container{&s.Containers[i], s, volumes, false}
		at := p.Child("containers").Index(i)
		errs = append(errs, uniqueLabel(c.Name, names, at.Child("name"))...)
		errs = append(errs, validateContainer(c, at)...)
	}
	for i := range s.InitContainers {
		c := container{&s.InitContainers[i], s, volumes, true}
		at := p.Child("initContainers").Index(i)
		errs = append(errs, uniqueLabel(c.Name, names, at.Child("name"))...)
		errs = append(errs, validateContainer(c, at)...)
	}
	errs = append(errs, validateEphemeralContainers(s, volumes, names, p.Child("ephemeralContainers"))...)
	return append(errs, validateHostPorts(s, p)...)
}

func validateContainer(c container, p *field.Path) field.ErrorList {
	errs := requireName(c.Image, p.Child("image"))
	errs = append(errs, check.Among(c.ImagePullPolicy, p.Child("imagePullPolicy"), corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	errs = append(errs, check.Among(c.TerminationMessagePolicy, p.Child("terminationMessagePolicy"),
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, validateRestarts(c, p)...)
	errs = append(errs, validatePorts(c, p.Child("ports"))...)
	errs = append(errs, ValidateEnv(c.Env, p.Child("env"))...)
	errs = append(errs, validateEnvFrom(c.EnvFrom, p.Child("envFrom"))...)
	errs = append(errs, validateMounts(c, p.Child("volumeMounts"))...)
	errs = append(errs, validateDevices(c, p.Child("volumeDevices"))...)
	errs = append(errs, validateResources(&c.Resources, validateContainerResource, p.Child("resources"))...)
	errs = append(errs, validateClaimsOf(c, p.Child("resources", "claims"))...)
	errs = append(errs, validateResizePolicy(c, p.Child("resizePolicy"))...)
	errs = append(errs, validateSecurity(c, p.Child("securityContext"))...)
	return append(errs, validateProbesAndHooks(c, p)...)
}

// validateImages refuses whitespace around the images of a pod. In templates it is accepted, as in Kubernetes.
func validateImages(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for at, c := range ContainersAt(s, p) {
		if strings.TrimSpace(c.Image) != c.Image {
			errs = append(errs, field.Invalid(at.Child("image"), c.Image, "must not have leading or trailing whitespace"))
		}
	}
	return errs
}

const (
	maxRestartRules     = 20
	maxRestartExitCodes = 255
)

func validateRestarts(c container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	policy, rules := p.Child("restartPolicy"), p.Child("restartPolicyRules")
	if c.RestartPolicy != nil {
		errs = check.Supported(*c.RestartPolicy, policy,
			corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyOnFailure, corev1.ContainerRestartPolicyNever)
	}
	if len(c.RestartPolicyRules) == 0 {
		return errs
	}
	if c.RestartPolicy == nil {
		errs = append(errs, field.Required(policy, "must be set when restartPolicyRules are"))
	}
	if n := len(c.RestartPolicyRules); n > maxRestartRules {
		errs = append(errs, field.TooMany(rules, n, maxRestartRules))
	}
	for i := range c.RestartPolicyRules {
		errs = append(errs, validateRestartRule(&c.RestartPolicyRules[i], rules.Index(i))...)
	}
	return errs
}

func validateRestartRule(r *corev1.ContainerRestartRule, p *field.Path) field.ErrorList {
	errs := check.Supported(r.Action, p.Child("action"), corev1.ContainerRestartRuleActionRestart, corev1.ContainerRestartRuleActionRestartAllContainers)
	codes := p.Child("exitCodes")
	if r.ExitCodes == nil {
		return append(errs, field.Required(codes, "must be specified"))
	}
	errs = append(errs, check.Supported(r.ExitCodes.Operator, codes.Child("operator"),
		corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
	if n := len(r.ExitCodes.Values); n > maxRestartExitCodes {
		errs = append(errs, field.TooMany(codes.Child("values"), n, maxRestartExitCodes))
	}
	return errs
}

func validatePorts(c container, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := sets.New[string]()
	for i, port := range c.Ports {
		at := p.Index(i)
		if port.Name != "" {
			errs = append(errs, validatePortName(port.Name, names, at.Child("name"))...)
		}
		if port.ContainerPort == 0 {
			errs = append(errs, field.Required(at.Child("containerPort"), "must be set"))
		} else {
			errs = append(errs, validatePort(port.ContainerPort, at.Child("containerPort"))...)
		}
		if port.HostPort != 0 {
			errs = append(errs, validatePort(port.HostPort, at.Child("hostPort"))...)
		}
		if c.pod.HostNetwork && !c.init && port.HostPort != 0 && port.HostPort != port.ContainerPort {
			errs = append(errs, field.Invalid(at.Child("hostPort"), port.HostPort, "must match containerPort when hostNetwork is true"))
		}
		errs = append(errs, check.Among(port.Protocol, at.Child("protocol"), corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)...)
	}
	return errs
}

func validatePortName(name string, seen sets.Set[string], p *field.Path) field.ErrorList {
	errs := check.Invalid(p, name, validation.IsValidPortName(name))
	switch {
	case len(errs) > 0:
		return errs
	case seen.Has(name):
		return field.ErrorList{field.Duplicate(p, name)}
	}
	seen.Insert(name)
	return nil
}

func validatePort(port int32, p *field.Path) field.ErrorList {
	return check.Invalid(p, port, validation.IsValidPortNum(int(port)))
}

// address is an address of the host on which a container listens.
type address struct {
	port     int32
	ip       string
	protocol corev1.Protocol
}

// validateHostPorts refuses containers that listen on the same port of the host. Init containers run one after the other,
// so only the ports of the same init container are compared.
func validateHostPorts(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	together := sets.New[address]()
	for i := range s.Containers {
		errs = append(errs, takeHostPorts(s.Containers[i].Ports, together, p.Child("containers").Index(i))...)
	}
	for i := range s.InitContainers {
		errs = append(errs, takeHostPorts(s.InitContainers[i].Ports, sets.New[address](), p.Child("initContainers").Index(i))...)
	}
	return errs
}

func takeHostPorts(ports []corev1.ContainerPort, taken sets.Set[address], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, port := range ports {
		at := address{port.HostPort, port.HostIP, port.Protocol}
		if port.HostPort == 0 {
			continue
		}
		if taken.Has(at) {
			errs = append(errs, field.Duplicate(p.Child("ports").Index(i).Child("hostPort"), port.HostPort))
		}
		taken.Insert(at)
	}
	return errs
}
