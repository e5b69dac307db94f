// Command bench measures Stint side by side with what else runs many commands on one machine.
//
//	a  a Job of no-op pods through the whole product, beside fork/exec, xargs and GNU parallel
//	b  the same Job on a node that only pretends to run pods: what the control plane costs
//	c  many Jobs of one pod each, on the same pretended node
//	d  the real binary: start to ready, memory at rest, from a pod's exit to its status
//	e  deleting a Job with its finished pods
//	f  the Job controller on a cluster, beside kube-controller-manager on the same kube-apiserver
//	g  many schedules that are due in the same second: how late their Jobs are
//	h  what keeping the results of a Job costs
//	i  containers from images, beside processes, crun and podman
//	j  the memory of one server process, at rest and under loads, and whether it stays as fast
//
// Figures are medians of several runs, each on a server and a data directory of its own; what takes long is run once. A figure
// with an aim is printed once more beside it, with a verdict (figure.go); a missed aim is no failure.
//
// The part smoke is not among those that run by default. It measures only what no noise of a machine changes, such as
// allocations, and fails where a figure is above its bound (smoke_bounds.go).
//
// -cpuprofile and -memprofile write profiles of the parts chosen with -only.
package main
