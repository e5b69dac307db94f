package pod

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/podstatus"
)

// prepareForEphemeralUpdate restores everything but the ephemeral containers. It keeps the fields that identify the object, which
// are checked later.
func prepareForEphemeralUpdate(pod, old *corev1.Pod) {
	kept := old.DeepCopy()
	kept.Name, kept.Namespace, kept.UID, kept.ResourceVersion = pod.Name, pod.Namespace, pod.UID, pod.ResourceVersion
	kept.ManagedFields = pod.ManagedFields
	kept.Spec.EphemeralContainers = pod.Spec.EphemeralContainers
	if !sameSpec(&kept.Spec, &old.Spec) {
		kept.Generation++
	}
	*pod = *kept
}

func validateEphemeralUpdate(pod, old *corev1.Pod, o Options) field.ErrorList {
	p := field.NewPath("spec")
	errs := validateSpec(&pod.Spec, p)
	errs = append(errs, validateImages(&pod.Spec, p)...)
	errs = append(errs, validateAdditions(pod, old, p.Child("ephemeralContainers"))...)
	for _, f := range o.checkAdded(pod, old) {
		if f.verdict == refuse {
			errs = append(errs, field.Forbidden(f.path, f.reason))
		}
	}
	return errs
}

// validateAdditions requires that each ephemeral container stays as it is.
func validateAdditions(pod, old *corev1.Pod, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range old.Spec.EphemeralContainers {
		was := &old.Spec.EphemeralContainers[i]
		switch at := indexOfEphemeral(&pod.Spec, was.Name); {
		case at < 0:
			errs = append(errs, field.Forbidden(p, fmt.Sprintf("container %q is missing: ephemeral containers can be added, but not removed", was.Name)))
		case !apiequality.Semantic.DeepEqual(&pod.Spec.EphemeralContainers[at], was):
			errs = append(errs, field.Forbidden(p, fmt.Sprintf("container %q has changed: add another one, of another name", was.Name)))
		}
	}
	return errs
}

func indexOfEphemeral(s *corev1.PodSpec, name string) int {
	return slices.IndexFunc(s.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return c.Name == name })
}

func (o Options) warnEphemeralUpdate(pod, old *corev1.Pod) []string {
	var warnings []string
	for _, f := range o.checkAdded(pod, old) {
		if f.verdict == warn {
			warnings = append(warnings, f.path.String()+": "+f.reason)
		}
	}
	if podstatus.IsTerminated(old) && pod.Generation != old.Generation {
		warnings = append(warnings, "spec.ephemeralContainers: has no effect: the pod has terminated, and starts no containers any more")
	}
	return warnings
}

// checkAdded applies the rules of the node to the ephemeral containers that an update adds.
func (o Options) checkAdded(pod, old *corev1.Pod) []finding {
	node := o.nodeForPod(pod)
	if node == nil {
		return nil
	}
	var found []finding
	for i := range pod.Spec.EphemeralContainers {
		c := &pod.Spec.EphemeralContainers[i]
		if indexOfEphemeral(&old.Spec, c.Name) >= 0 {
			continue
		}
		at := field.NewPath("spec", "ephemeralContainers").Index(i)
		found = append(found, applyRules(ephemeralRules, c, *node, at)...)
		if asContainer(*node) {
			found = append(found, checkContainer(&pod.Spec, (*corev1.Container)(&c.EphemeralContainerCommon), *node, at)...)
		}
	}
	return found
}

// validateEphemeralContainers validates the ephemeral containers of a pod. Names are those of the other containers.
func validateEphemeralContainers(s *corev1.PodSpec, volumes map[string]*corev1.Volume, names sets.Set[string], p *field.Path) field.ErrorList {
	var errs field.ErrorList
	targets := names.Clone()
	for i := range s.EphemeralContainers {
		c := &s.EphemeralContainers[i]
		at := p.Index(i)
		allowed := allowedInEphemeral((*corev1.Container)(&c.EphemeralContainerCommon))
		errs = append(errs, uniqueLabel(c.Name, names, at.Child("name"))...)
		errs = append(errs, validateContainer(container{&allowed, s, volumes, false}, at)...)
		if c.TargetContainerName != "" && !targets.Has(c.TargetContainerName) {
			missing := field.NotFound(at.Child("targetContainerName"), c.TargetContainerName)
			missing.Detail = "the pod has no init container or container of this name"
			errs = append(errs, missing)
		}
		errs = append(errs, forbidInEphemeral((*corev1.Container)(&c.EphemeralContainerCommon), &allowed, at)...)
	}
	return errs
}

// allowedInEphemeral returns the container with only the fields that an ephemeral container may have. Nothing else of the pod may
// rely on it, so it has neither ports nor resources, and nothing that restarts or watches it.
func allowedInEphemeral(c *corev1.Container) corev1.Container {
	return corev1.Container{
		Name: c.Name, Image: c.Image, ImagePullPolicy: c.ImagePullPolicy,
		Command: c.Command, Args: c.Args, WorkingDir: c.WorkingDir, Env: c.Env, EnvFrom: c.EnvFrom,
		VolumeMounts: c.VolumeMounts, VolumeDevices: c.VolumeDevices, SecurityContext: c.SecurityContext,
		TerminationMessagePath: c.TerminationMessagePath, TerminationMessagePolicy: c.TerminationMessagePolicy,
		Stdin: c.Stdin, StdinOnce: c.StdinOnce, TTY: c.TTY,
	}
}

// forbidInEphemeral refuses the fields of c that are not in allowed, and sub-paths of volumes.
func forbidInEphemeral(c, allowed *corev1.Container, p *field.Path) field.ErrorList {
	const reason = "is not possible for an ephemeral container: remove it"
	var errs field.ErrorList
	set, kept := reflect.ValueOf(c).Elem(), reflect.ValueOf(allowed).Elem()
	for i := range set.NumField() {
		if set.Field(i).IsZero() || !kept.Field(i).IsZero() {
			continue
		}
		name, _, _ := strings.Cut(set.Type().Field(i).Tag.Get("json"), ",")
		errs = append(errs, field.Forbidden(p.Child(name), reason))
	}
	for i, m := range c.VolumeMounts {
		at := p.Child("volumeMounts").Index(i)
		if m.SubPath != "" {
			errs = append(errs, field.Forbidden(at.Child("subPath"), reason))
		}
		if m.SubPathExpr != "" {
			errs = append(errs, field.Forbidden(at.Child("subPathExpr"), reason))
		}
	}
	return errs
}
