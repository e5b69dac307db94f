// Package resources assigns the machine's CPU, memory, disk space and pod slots to pods, by their requests.
//
// It is pure: a Queue knows which pods have resources and which wait for them, and nothing about clocks, clients or
// processes. The oldest pod goes first, and no younger pod takes of a resource that an older one waits for: a pod that
// requests all CPUs gets them in the end, while pods that request none need not wait behind it. A pod that requests
// more than the machine has waits without blocking others.
package resources
