// Package host is the process that containers belong to. It outlives the control plane. It starts, signals and reaps
// containers and reports how they ended, and does nothing else.
//
//	            start            main process ends,
//	(unknown) ────────► running ─────────────────────► exited ────────► (unknown)
//	                │            tree ended, log closed          forget
//	                └──────────────────────────────────────────►
//	                  could not be started
//
// Every change is in the journal, a file on tmpfs, before the control plane hears of it; a start is even there before
// the process exists. If the host dies, the kernel ends the main processes of its containers. The next host reads the
// journal, kills what is left of the containers, and reports as lost those that were running.
package host
