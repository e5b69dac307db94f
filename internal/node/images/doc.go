// Package images pulls the images of pods, and reads from an image how its container runs.
//
//	pod asks ──► Get ──┬─ the image is stored ─────► Image
//	                   ├─ it is being pulled ──────► Waiting; the pod is woken when the pull ends
//	                   └─ the last pull failed ────► Waiting until the next one, with backoff
//
// Any number of pods wait for one pull, which ends with the last of them. Few pulls run at a time, others wait for their turn. Policies, reasons and delays are those of a kubelet.
package images
