// Package prober runs the probes and the lifecycle hooks of containers: it asks a server in the container over HTTP, TCP or
// gRPC, runs a command in the container, or sleeps. When to run a probe, and what its result means, is decided by package
// probe.
//
// Pods have the network of the machine. What a container serves is looked for at the loopback address first and then at the
// pod's IP, so that a server that listens on either is found.
package prober
