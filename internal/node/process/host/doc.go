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
// process. If the host dies, the kernel ends the main processes of its containers. The next host reads the journal, kills
// what is left of the containers, and reports as lost those that were running.
package host
