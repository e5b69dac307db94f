// Package resources holds the machine's CPU, memory, disk space and pod slots against what pods request.
//
// It is pure: a Queue knows which pods hold a share and which wait for one, and nothing about clocks, clients or
// processes. The oldest pod goes first, and no younger pod takes of a resource that an older one waits for: a pod
// that wants all CPUs gets them in the end, while pods that want none need not wait behind it. A pod that asks for
// more than the machine will ever have waits without holding up anyone.
package resources
