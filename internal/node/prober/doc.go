// Package prober runs the probes and the lifecycle hooks of containers: it asks a server in the container over HTTP, TCP or
// gRPC, runs a command in the container, or sleeps. When to run a probe, and what its result means, is decided by package
// probe.
//
// A pod with a network of its own is asked at its address, as in a cluster. The others share the machine's network: what they
// serve is looked for at the loopback address first and then at the machine's, so that a server that listens on either is found.
package prober
