// Package probe decides when the probes of a container are due, and what their results mean for it.
//
// It is pure: it never asks a clock and probes nothing. The node asks an Attempt what is due, runs that, and has the
// Attempt observe the results. What is known belongs to one attempt at the container, and is forgotten with it.
//
//	probe      ticks from            runs             at first    threshold reached
//	startup    the start             until decided    not started success: the container is started; failure: it is restarted
//	readiness  when it is started    while started    not ready   success: ready; failure: not ready
//	liveness   the start             while started    alive       failure: the container is restarted
//
// As in a kubelet, a probe runs at multiples of its period. The tick at the start itself is left out (the container has
// hardly begun by then), except for readiness, and so are ticks within initialDelaySeconds. A probe that takes longer
// than its period runs again as soon as it ends.
package probe
