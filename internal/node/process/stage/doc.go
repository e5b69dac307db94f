// Package stage takes a new process from clone to execve without running Go code in it.
//
// What has to happen in between is prepared as a Program, a list of system calls with their arguments. The child makes
// these calls and exits at the first one that fails. It shares the memory of its parent until it executes another
// program, so nothing is copied, and uses only registers: neither a stack nor the Go runtime. A Program of NewApart is for a
// child that must not share that memory where it goes.
//
//	parent                            child
//	  Program{calls} ── clone3 ──────► call 0, call 1, …, execve
//	  goes on                            └ one fails: its errno is in the Program; exit
//	  waits on a pipe ◄──────────────────┘ closed by execve and by exit
//
// The standard library's ForkExec has a fixed list. It cannot mount in the namespaces of the child, drop capabilities
// or load a seccomp filter, and the last two cannot be undone on the thread that forks.
package stage
