package pod

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// A pod asks for many things that one machine cannot give, or that mean nothing on it. None is dropped in silence:
// each is a rule in one of the tables (podRules here, containerRules, volumeRules and so on beside it), which
// either refuses the pod or tells its author that the field has no effect.
type rule[T any] struct {
	// field is the path below the thing judged, with dots.
	field string
	// isSet reports whether the author wants what this rule is about.
	isSet func(T) bool
	// honoured reports whether this node gives it; nil means that none does.
	honoured func(runtime.Info) bool
	verdict  verdict
	// reason is the reason, and what to do about it.
	reason string
}

type verdict bool

const (
	// refuse is for what would make the pod do something else than its author meant.
	refuse verdict = true
	// warn is for what makes no difference on one machine.
	warn verdict = false
)

// finding is a rule that applies to a field of a pod.
type finding struct {
	path    *field.Path
	verdict verdict
	reason  string
}

// asContainer is for what a container from an image has and a plain process has not.
func asContainer(i runtime.Info) bool { return i.Name != runtime.ClassProcess }

func withMounts(i runtime.Info) bool   { return i.CanMount }
func withUsers(i runtime.Info) bool    { return i.CanSetUser }
func withHostname(i runtime.Info) bool { return i.CanSetHostname }

// For what a container from an image can have, but not on every machine or of every user.
func runningPrivileged(i runtime.Info) bool { return asContainer(i) && i.CanRunPrivileged }
func sharingPIDs(i runtime.Info) bool       { return asContainer(i) && i.CanSharePIDs }
func settingSysctls(i runtime.Info) bool    { return asContainer(i) && i.CanSetSysctls }
func sharingNamespaces(i runtime.Info) bool { return asContainer(i) && i.CanShareNamespaces }

// For limits of disk space: a process's files are the machine's, but for its volumes and logs.
func measuring(i runtime.Info) bool      { return i.CanMeasure }
func measuringFiles(i runtime.Info) bool { return asContainer(i) || !i.CanMeasure }

// withoutMachineUsers is for what holds of itself in a user namespace.
func withoutMachineUsers(i runtime.Info) bool { return asContainer(i) && !i.CanShareNamespaces }

// unlessRoot is for what holds of itself when the server has no more rights than its user.
func unlessRoot(i runtime.Info) bool { return asContainer(i) || !i.CanSetUser }

// applyRules returns what the rules find in v.
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

// checkPod applies all tables to a pod; without a node there is nothing to judge by.
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

// checkRuntime refuses pods that would run from their images, by their own choice or the server's, where none can. They are
// never run otherwise.
func checkRuntime(node runtime.Info, p *field.Path) []finding {
	if node.Name != runtime.ClassOCI || node.CanRunImages {
		return nil
	}
	return []finding{{p.Child("runtimeClassName"), refuse, "images cannot be run here: " + node.WhyNoImages +
		"; for programs of this machine use the runtime class process (--runtime=process where the pod does not say)"}}
}

// refuseWhatNodeCannot returns an error for every field that the node would have to ignore at the pod's cost.
func refuseWhatNodeCannot(s *corev1.PodSpec, node *runtime.Info, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, f := range checkPod(s, node, p) {
		if f.verdict == refuse {
			errs = append(errs, field.Forbidden(f.path, f.reason))
		}
	}
	return errs
}

// warnWhatNodeIgnores returns a warning for every field that has no effect on the node.
func warnWhatNodeIgnores(s *corev1.PodSpec, node *runtime.Info, p *field.Path) []string {
	var warnings []string
	for _, f := range checkPod(s, node, p) {
		if f.verdict == warn {
			warnings = append(warnings, f.path.String()+": "+f.reason)
		}
	}
	return warnings
}
