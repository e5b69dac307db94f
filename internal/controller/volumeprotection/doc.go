// Package volumeprotection lets claims and volumes that are being deleted go once they are not in use any more: a claim when
// no pod that has a node and has not terminated names it, a volume when it is not bound to a claim.
//
// A node reads the claims of a pod after it has bound the pod to itself. So either a list of the pods that was made after the
// claim was deleted shows the pod, or the node sees that the claim is being deleted and does not start it.
package volumeprotection

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workers is enough for the store to write the ends of many claims in batches.
const workers = 16

// isHeld reports whether an object is being deleted and only waits for its finalizers, this one among them.
func isHeld(o metav1.Object, finalizer string) bool {
	return o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), finalizer)
}

func remove(o metav1.Object, finalizer string) {
	o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == finalizer }))
}
