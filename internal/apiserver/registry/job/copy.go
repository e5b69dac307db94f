package job

import (
	"fmt"
	"regexp"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var uidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// createFromCopy prepares a new Job, which may be a copy of another one that was exported with `kubectl get -o yaml`. It
// returns warnings.
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
	// The copy is no dependent of these owners. If they do not exist, as on another server, the garbage collector would
	// delete it.
	for _, owner := range job.OwnerReferences {
		warnings = append(warnings, fmt.Sprintf("metadata.ownerReferences: %s %s owns the Job that this one is a copy of, "+
			"and not this one: the reference is dropped", owner.Kind, owner.Name))
	}
	job.OwnerReferences = nil
	return warnings
}

// IsExported reports whether a new Job is an exported copy of another Job. If only its pod template is a copy, it is not:
// the Job may be a run of a CronJob with a copied template. A run has no selector, an exported Job has one.
func IsExported(job *batchv1.Job) bool {
	uids, _ := selectedUIDs(&job.Spec)
	_, copied := copiedFrom(job)
	return copied && len(uids) > 0 && !ptr.Deref(job.Spec.ManualSelector, false)
}

func warnCopy(other string) string {
	return fmt.Sprintf("spec.selector: selector and labels were generated for %s, and are generated anew for this one", other)
}

// removeOtherSelector removes the selector and the pod labels if they were generated for another Job, of which this one
// is a copy, and returns a name for that Job. It replaces the same labels of the Job itself.
func removeOtherSelector(job *batchv1.Job, own types.UID) (other string) {
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

// regenerateSelector generates the selector again when the manifest of a copy is applied again. The manifest still has
// the labels of the other Job, or only its name, which apply merges with this Job's UID. Validation refuses all other
// changes of the selector. It returns warnings.
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

// copiedFrom reports whether the selector and the pod labels were generated for another Job, and returns its UID if they
// still have it. They count as generated if
//   - manualSelector is not true (which the callers check),
//   - the selector is unset or empty, or requires only controller-uid labels, with or without prefix, and
//   - all controller-uid labels of the selector and the template have the same value, which is a UID; or there is none,
//     but batch.kubernetes.io/job-name has another Job's name, and so has the label without prefix, if it is set. This
//     is what is left if a user has removed the lines with UIDs.
//
// Beside a UID, job-name labels with any value count as generated. Without one, a job-name label without prefix alone
// does not: it may be the user's own, and validation refuses it if it is not the Job's name.
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

// selectedUIDs returns the values of the controller-uid labels that the selector requires, and whether it requires
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
