package registry

import (
	"regexp"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var uidPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// forgetOtherJob removes selector and labels that were generated for another Job, of which this one is a copy
// (exported with `kubectl get -o yaml` and created again). The Job's own labels follow where they are the same copy.
func forgetOtherJob(job *batchv1.Job, own types.UID) {
	uid, copied := copiedFrom(job)
	if !copied {
		return
	}
	podLabels := job.Spec.Template.Labels
	for key, value := range generatedJobLabels(job.Name, own) {
		if old, ok := job.Labels[key]; ok && (old == uid || old == podLabels[key]) {
			job.Labels[key] = value
		}
		delete(podLabels, key)
	}
	job.Spec.Selector = nil
}

// regenerateJobSelector generates again when the manifest of a copy is applied once more: it still names the other
// Job, or its name only, which apply puts beside this Job's UID. All else that an update does to the selector is for
// validation to refuse.
func regenerateJobSelector(job, old *batchv1.Job) {
	uid, copied := copiedFrom(job)
	if !copied || ptr.Deref(old.Spec.ManualSelector, false) {
		return
	}
	if uid != string(old.UID) || namesOtherJob(job.Spec.Template.Labels, job.Name) {
		generateJobSelector(job, old.UID)
	}
}

// copiedFrom tells whether selector and labels were generated for another Job, and returns its UID where they still
// name it. They count as generated exactly when
//   - manualSelector is not true (generateJobSelector has seen to that),
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
