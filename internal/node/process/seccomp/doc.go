// Package seccomp turns a seccomp profile into the small BPF program with which the kernel judges every system call
// of a container: allow it, fail it with an error number, or kill the caller.
//
// A profile lists calls by name and says what happens to them; everything else meets its default action.
// Two kinds are known: the built-in one (RuntimeDefault), and JSON files (Localhost profiles) in the notation of the
// OCI runtime specification or in that of Docker and containers/common, which adds conditions on capabilities,
// architecture and kernel to each rule.
//
//	Parse(json)  ──►  Profile  ──►  Compile(capabilities, host)  ──►  []SockFilter  ──►  Load
//	RuntimeDefault()
//
// The program first looks at the calling convention (a 64-bit machine also takes 32-bit calls, with other numbers),
// then finds the number of the call by binary search over ranges of numbers with one verdict, and looks at arguments
// only where a rule asks for that:
//
//	load arch ── x86_64 ──► load nr ──► search ──► return verdict
//	    │                                  └─────► load argument ─► compare ─► return verdict
//	    ├─────── i386 ────► load nr ──► …
//	    └─────── other ───► kill the process
//
// The kernel (5.11 and newer) tries the program out for each number when it is loaded and afterwards skips it for
// calls that it always allows. That works only for the few instructions which the program uses for its search:
// loads of nr and arch, JEQ, JGE, JA and RET. Keep it so.
//
// Everything here but Load and ThisHost is a pure function.
package seccomp

//go:generate go run ./generate
