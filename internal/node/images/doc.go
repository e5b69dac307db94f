// Package images brings the images of pods to this machine, and tells what a container runs of one.
//
//	pod asks ──► Get ──┬─ it is there ─────────────► Image
//	                   ├─ it is being pulled ──────► Waiting, and the pod is woken when that is over
//	                   └─ the last pull failed ────► Waiting until the next one, later from time to time
//
// Any number of pods wait for one pull. Policies, reasons and delays are those of a kubelet.
package images
