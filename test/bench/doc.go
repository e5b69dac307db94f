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
//
// Every figure is the median of several runs, each on a server and a data directory of its own. Where there is a goal it
// is printed too; a missed goal is no failure. -cpuprofile and -memprofile write profiles of the parts chosen with -only.
package main
