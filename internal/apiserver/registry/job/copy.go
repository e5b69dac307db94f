package job

import (
	"fmt"
	"regexp"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var uidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// createFromCopy makes a new Job of what may be another one, exported with `kubectl get -o yaml`. It returns warnings.
func createFromCopy(job *batchv1.Job) []string {
	job.ResourceVersion = ""
	exported := IsExported(job)
	other := generateSelector(job, job.UID)
	if other == "" {
		return nil
	}
	warnings := []string{warnCopy(other)}
	if !exported {
		return warnings
	}
	// The copy is none of their runs. Where they are not there, as on another server, it would be deleted with them.
	for _, owner := range job.OwnerReferences {
		warnings = append(warnings, fmt.Sprintf("metadata.ownerReferences: %s %s owns the Job that this one is a copy of, "+
			"and not this one: the reference is dropped", owner.Kind, owner.Name))
	}
	job.OwnerReferences = nil
	return warnings
}

// IsExported reports whether a Job that is posted is a copy of another Job, and not only its template: that may be a
// copy although the Job is a run of the CronJob that has the template. Who makes Jobs of templates names no selector.
func IsExported(job *batchv1.Job) bool {
	uids, _ := selectedUIDs(&job.Spec)
	_, copied := copiedFrom(job)
	return copied && len(uids) > 0 && !ptr.Deref(job.Spec.ManualSelector, false)
}

func warnCopy(other string) string {
	return fmt.Sprintf("spec.selector: selector and labels were generated for %s, and are generated anew for this one", other)
}

// forgetOtherJob removes selector and labels that were generated for another Job, of which this one is a copy, and
// says which one that was. The Job's own labels follow where they are the same copy.
func forgetOtherJob(job *batchv1.Job, own types.UID) (other string) {
	uid, copied := copiedFrom(job)
	if !copied {
		return ""
	}
	podLabels := job.Spec.Template.Labels
	other = fmt.Sprintf("Job %q", podLabels[batchv1.JobNameLabel])
	if uid != "" {
		other = fmt.Sprintf("the Job with UID %s", uid)
	}
	for key, value := range generatedLabels(job.Name, own) {
		if old, ok := job.Labels[key]; ok && (old == uid || old == podLabels[key]) {
			job.Labels[key] = value
		}
		delete(podLabels, key)
	}
	job.Spec.Selector = nil
	return other
}

// regenerateSelector generates again when the manifest of a copy is applied once more: it still names the other
// Job, or its name only, which apply puts beside this Job's UID. All else that an update does to the selector is for
// validation to refuse. It returns warnings.
func regenerateSelector(job, old *batchv1.Job) []string {
	uid, copied := copiedFrom(job)
	if !copied || ptr.Deref(old.Spec.ManualSelector, false) {
		return nil
	}
	if uid == string(old.UID) && !namesOtherJob(job.Spec.Template.Labels, job.Name) {
		return nil
	}
	if other := generateSelector(job, old.UID); other != "" {
		return []string{warnCopy(other)}
	}
	return nil
}

// copiedFrom reports whether selector and labels were generated for another Job, and returns its UID where they still
// name it. They count as generated exactly when
//   - manualSelector is not true (generateSelector has seen to that),
//   - the selector is absent or empty, or asks for nothing but one controller-uid label, prefixed or not, and
//   - every controller-uid label in selector and template holds one and the same value, in the form of a UID; or
//     there is none, but batch.kubernetes.io/job-name holds another Job's name, and the label without prefix, if
//     any, holds it too: what is left when somebody has cut out the lines with UIDs.
//
// The job-name labels beside a UID count as generated whatever they hold. An unprefixed job-name alone does not: it
// may be the author's own, and is refused where it contradicts the Job's name.
func copiedFrom(job *batchv1.Job) (uid string, copied bool) {
	uids, only := selectedUIDs(&job.Spec)
	if !only {
		return "", false
	}
	podLabels := job.Spec.Template.Labels
	for _, key := range jobUIDLabels {
		if uid, ok := podLabels[key]; ok {
			uids[uid] = true
		}
	}
	if len(uids) == 0 {
		return "", namesOtherJob(podLabels, job.Name)
	}
	for uid = range uids {
		copied = len(uids) == 1 && uidPattern.MatchString(uid)
	}
	return uid, copied
}

// selectedUIDs returns the values of controller-uid labels that the selector asks for, and whether it asks for
// nothing else.
func selectedUIDs(spec *batchv1.JobSpec) (uids map[string]bool, only bool) {
	uids = map[string]bool{}
	if spec.Selector == nil {
		return uids, true
	}
	found := 0
	for _, key := range jobUIDLabels {
		if uid, ok := spec.Selector.MatchLabels[key]; ok {
			uids[uid] = true
			found++
		}
	}
	return uids, found == len(spec.Selector.MatchLabels) && len(spec.Selector.MatchExpressions) == 0
}

func namesOtherJob(podLabels map[string]string, own string) bool {
	name, ok := podLabels[batchv1.JobNameLabel]
	if !ok || name == own {
		return false
	}
	for _, key := range jobNameLabels {
		if other, ok := podLabels[key]; ok && other != name {
			return false
		}
	}
	return true
}
