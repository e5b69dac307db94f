package registry

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

var resultPhases = []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown}

// validateResultSlice limits the size of slices, because there may be many and the server has all of them in memory.
func validateResultSlice(s *stintv1.ResultSlice) field.ErrorList {
	p := field.NewPath("results")
	if n := len(s.Results); n > stintv1.MaxSliceResults {
		return field.ErrorList{field.TooMany(p, n, stintv1.MaxSliceResults)}
	}
	var errs field.ErrorList
	if s.Before < 0 {
		errs = append(errs, field.Invalid(field.NewPath("before"), s.Before, "must not be negative"))
	}
	for i := range s.Results {
		errs = append(errs, validatePodResult(&s.Results[i], p.Index(i))...)
	}
	return errs
}

func validatePodResult(r *stintv1.PodResult, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Pod == "" {
		errs = append(errs, field.Required(p.Child("pod"), "name the pod"))
	}
	if r.UID == "" {
		errs = append(errs, field.Required(p.Child("uid"), "set the pod's UID, which distinguishes it from other pods of its name"))
	}
	if !slices.Contains(resultPhases, r.Phase) {
		errs = append(errs, field.NotSupported(p.Child("phase"), r.Phase, resultPhases))
	}
	for _, n := range []struct {
		name  string
		value int64
	}{{"restarts", int64(r.Restarts)}, {"signal", int64(r.Signal)}, {"index", int64(ptr.Deref(r.Index, 0))}} {
		if n.value < 0 {
			errs = append(errs, field.Invalid(p.Child(n.name), n.value, "must not be negative"))
		}
	}
	for _, s := range []struct{ name, value string }{
		{"pod", r.Pod}, {"uid", string(r.UID)}, {"node", r.Node}, {"container", r.Container}, {"reason", r.Reason},
	} {
		if len(s.value) > stintv1.MaxResultName {
			errs = append(errs, field.TooLong(p.Child(s.name), "", stintv1.MaxResultName))
		}
	}
	if len(r.Message) > stintv1.MaxResultMessage {
		errs = append(errs, field.TooLong(p.Child("message"), "", stintv1.MaxResultMessage))
	}
	return errs
}
