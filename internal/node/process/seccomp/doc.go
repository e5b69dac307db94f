// Package seccomp compiles a seccomp profile into the small BPF program with which the kernel decides about every system
// call of a container: allow it, fail it with an error number, or kill the caller.
//
// A profile lists calls by name with an action for each; its default action is for all other calls. There are two kinds:
// the built-in profile (RuntimeDefault), and JSON files (Localhost profiles) in the format of the OCI runtime specification
// or in that of Docker and containers/common, which adds conditions on capabilities, architecture and kernel to each rule.
//
//	Parse(json)  ──►  Profile  ──►  Compile(capabilities, host)  ──►  []SockFilter  ──►  Load
//	RuntimeDefault()
//
// The program first checks the calling convention (a 64-bit machine also accepts 32-bit calls, with other numbers), then
// finds the number of the call by binary search over ranges of numbers with one verdict, and compares arguments only if a
// rule has conditions on them:
//
//	load arch ── x86_64 ──► load nr ──► search ──► return verdict
//	    │                                  └─────► load argument ─► compare ─► return verdict
//	    ├─────── i386 ────► load nr ──► …
//	    └─────── other ───► kill the process
//
// The kernel (5.11 and newer) runs the program for each number when it is loaded, and afterwards skips it for calls that it
// always allows. That works only with the few instructions which the program uses for its search: loads of nr and arch,
// JEQ, JGE, JA and RET. So the search must not use others.
//
// All functions except Load and ThisHost are pure.
package seccomp

//go:generate go run ./generate
