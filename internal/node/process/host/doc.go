// Package host is the process that containers belong to. It outlives the control plane: it knows how to start, signal
// and reap containers, tells how they ended, and nothing else.
//
//	            start            main process ends,
//	(unknown) ────────► running ─────────────────────► exited ────────► (unknown)
//	                │            tree ended, log closed          forget
//	                └──────────────────────────────────────────►
//	                  could not be started
//
// Every change is in the journal, a file on tmpfs, before anyone is told of it: the start even before there is a
// process. If the host dies its containers die with it; the next host reads the journal, ends what is left, and
// reports as lost what was running.
package host
