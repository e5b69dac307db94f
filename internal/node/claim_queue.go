package node

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// claimQueue keeps pods waiting until their claims are bound, and a ReadWriteOncePod claim until no other pod has it.
type claimQueue struct {
	// waiting are the pods that wait, with what for.
	waiting map[types.UID]string
	// holders are the pods that have the ReadWriteOncePod claims, by NAMESPACE/NAME.
	holders map[string]types.UID
}

// claimInUse has the words of Kubernetes' scheduler.
const claimInUse = "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"

func newClaimQueue() *claimQueue {
	return &claimQueue{waiting: map[types.UID]string{}, holders: map[string]types.UID{}}
}

// admit reports whether the pod may go on: its claims lack nothing, and no other pod has one that it needs for itself. If it
// may not, the pods in next may.
func (q *claimQueue) admit(uid types.UID, lack string, exclusive []string) (ok bool, next []types.UID) {
	if lack == "" && slices.ContainsFunc(exclusive, func(claim string) bool { return q.isHeld(claim, uid) }) {
		lack = claimInUse
	}
	if lack != "" {
		next = q.release(uid)
		q.waiting[uid] = lack
		return false, next
	}
	delete(q.waiting, uid)
	q.hold(uid, exclusive)
	return true, nil
}

func (q *claimQueue) isHeld(claim string, besides types.UID) bool {
	holder, held := q.holders[claim]
	return held && holder != besides
}

// hold gives the pod claims for itself.
func (q *claimQueue) hold(uid types.UID, exclusive []string) {
	for _, claim := range exclusive {
		q.holders[claim] = uid
	}
}

// release forgets the pod. It returns the pods that may have waited for its claims.
func (q *claimQueue) release(uid types.UID) (next []types.UID) {
	delete(q.waiting, uid)
	held := len(q.holders)
	maps.DeleteFunc(q.holders, func(_ string, holder types.UID) bool { return holder == uid })
	if len(q.holders) == held {
		return nil
	}
	for other, lack := range q.waiting {
		if lack == claimInUse {
			next = append(next, other)
		}
	}
	return next
}

// message returns what the pod waits for.
func (q *claimQueue) message(uid types.UID) (lack string, waits bool) {
	lack, waits = q.waiting[uid]
	return lack, waits
}
