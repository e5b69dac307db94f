// Package stage takes a new process from clone to execve without running any Go in it.
//
// What has to happen in between is prepared as a Program, a list of system calls with their arguments. The child goes
// down the list and ends at the first call that fails. It shares the memory of its parent until it executes another
// program, so nothing is copied, and it uses registers alone: neither a stack nor the Go runtime.
//
//	parent                            child
//	  Program{calls} ── clone3 ──────► call 0, call 1, …, execve
//	  goes on                            └ fails: which and why is left in the Program; exit
//	  waits on a pipe ◄──────────────────┘ closed by execve and by exit alike
//
// The standard library's ForkExec has a fixed list. It cannot mount in the namespaces of the child, drop capabilities
// or load a seccomp filter, and the last two cannot be undone on the thread that forks.
package stage
