package pod

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// rule is a rule for a field of pods that this node may not support, or that has no effect on it. No field is silently
// ignored: the rules, in tables such as podRules, containerRules and volumeRules, either refuse the pod or warn that the
// field has no effect.
type rule[T any] struct {
	// field is the path of the field below T, with dots.
	field string
	// isSet reports whether the field is set to a value that needs support.
	isSet func(T) bool
	// honoured reports whether the node supports the field; nil means that no node does.
	honoured func(runtime.Info) bool
	verdict  verdict
	// reason is the reason and the remedy, for users.
	reason string
}

type verdict bool

const (
	// refuse is for fields without which the pod would not do what the user wants.
	refuse verdict = true
	// warn is for fields that can be ignored on one machine.
	warn verdict = false
)

// finding is a field of a pod to which a rule applies.
type finding struct {
	path    *field.Path
	verdict verdict
	reason  string
}

// asContainer is for fields that containers from images support, but not plain processes.
func asContainer(i runtime.Info) bool { return i.Name != runtime.ClassProcess }

func withMounts(i runtime.Info) bool       { return i.CanMount }
func mountingReadOnly(i runtime.Info) bool { return i.CanMountReadOnly }
func withUsers(i runtime.Info) bool        { return i.CanSetUser }
func withHostname(i runtime.Info) bool     { return i.CanSetHostname }
func withNetworks(i runtime.Info) bool     { return i.PodRange.IsValid() }

// The next ones are for fields that containers from images support only on some machines or for some users.
func runningPrivileged(i runtime.Info) bool { return asContainer(i) && i.CanRunPrivileged }
func sharingPIDs(i runtime.Info) bool       { return asContainer(i) && i.CanSharePIDs }
func settingSysctls(i runtime.Info) bool    { return asContainer(i) && i.CanSetSysctls }
func sharingNamespaces(i runtime.Info) bool { return asContainer(i) && i.CanShareNamespaces }

// The next ones are for limits of disk space. Of a plain process only volumes and logs can be measured, because its other
// files are the machine's.
func measuring(i runtime.Info) bool      { return i.CanMeasure }
func measuringFiles(i runtime.Info) bool { return asContainer(i) || !i.CanMeasure }

// withoutMachineUsers is for fields that are always true in a user namespace.
func withoutMachineUsers(i runtime.Info) bool { return asContainer(i) && !i.CanShareNamespaces }

// unlessRoot is for fields that are always true if the server does not run as root.
func unlessRoot(i runtime.Info) bool { return asContainer(i) || !i.CanSetUser }

// applyRules returns the findings of the rules in v.
func applyRules[T any](rules []rule[T], v T, node runtime.Info, p *field.Path) []finding {
	var found []finding
	for _, r := range rules {
		if !r.isSet(v) || (r.honoured != nil && r.honoured(node)) {
			continue
		}
		at := p
		for name := range strings.SplitSeq(r.field, ".") {
			if name != "" {
				at = at.Child(name)
			}
		}
		found = append(found, finding{at, r.verdict, r.reason})
	}
	return found
}

// checkPod applies all rules to a pod. Without a node there are no findings.
func checkPod(s *corev1.PodSpec, on *runtime.Info, p *field.Path) []finding {
	if on == nil {
		return nil
	}
	node := *on
	found := append(checkRuntime(node, p), applyRules(podRules, s, node, p)...)
	for i := range s.Volumes {
		found = append(found, checkVolume(&s.Volumes[i], node, p.Child("volumes").Index(i))...)
	}
	for i := range s.InitContainers {
		found = append(found, checkContainer(s, &s.InitContainers[i], node, p.Child("initContainers").Index(i))...)
	}
	for i := range s.Containers {
		found = append(found, checkContainer(s, &s.Containers[i], node, p.Child("containers").Index(i))...)
	}
	return found
}

// checkRuntime refuses pods that the oci runtime would run, by their RuntimeClass or the server's default, if the node
// cannot run images. Such pods are never run as processes instead.
func checkRuntime(node runtime.Info, p *field.Path) []finding {
	if node.Name != runtime.ClassOCI || node.CanRunImages {
		return nil
	}
	return []finding{{p.Child("runtimeClassName"), refuse, "images cannot be run here: " + node.WhyNoImages +
		"; for programs of this machine use the runtime class process (--runtime=process where the pod does not say)"}}
}

// refuseUnsupported returns an error for every field that the node does not support and must not ignore.
func refuseUnsupported(s *corev1.PodSpec, node *runtime.Info, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, f := range checkPod(s, node, p) {
		if f.verdict == refuse {
			errs = append(errs, field.Forbidden(f.path, f.reason))
		}
	}
	return errs
}

// warnIgnored returns a warning for every field that has no effect on the node.
func warnIgnored(s *corev1.PodSpec, node *runtime.Info, p *field.Path) []string {
	var warnings []string
	for _, f := range checkPod(s, node, p) {
		if f.verdict == warn {
			warnings = append(warnings, f.path.String()+": "+f.reason)
		}
	}
	return warnings
}
