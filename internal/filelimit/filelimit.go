// Package filelimit remembers how many files this process could open when it was started. Package os raises that limit as
// far as it may, and programs that this process starts should not inherit the raised one: some of them close every
// descriptor below it, or cannot use one above 1,024.
package filelimit

import "syscall"

// AtStart is the limit before package os was initialized. Go initializes packages in the order of their import paths, as far
// as their imports allow: this one comes before os as long as it imports only what os needs, too.
var AtStart = get()

func get() syscall.Rlimit {
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return limit
}
