// Package persistentvolume decides which volume a claim is bound to, when a volume is provisioned for a claim, and what
// becomes of a volume whose claim is gone.
//
//	claim:   Pending ──► Bound ──► Lost        the volume is gone, or is bound to another claim
//	volume:  Available ──► Bound ──► Released  the claim is gone: the data goes under Delete, and stays under Retain
//
// A binding is stored in four writes: claimRef of the volume, its phase, volumeName of the claim, its phase. Each state in
// between leads to the same binding again, so that a controller may end after any of them.
package persistentvolume

import corev1 "k8s.io/api/core/v1"

// Event is what users are to be told about an object. The zero value is none.
type Event struct {
	Type, Reason, Message string
}

func normal(reason, message string) Event {
	return Event{corev1.EventTypeNormal, reason, message}
}

func warning(reason, message string) Event {
	return Event{corev1.EventTypeWarning, reason, message}
}
