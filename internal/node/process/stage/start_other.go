//go:build !linux || !(amd64 || arm64)

package stage

import "errors"

// Supported is whether the package knows this machine's processor.
const Supported = false

// Namespaces is what a child gets of its own, as flags of clone.
type Namespaces uint64

// Child is a process that goes down its list of calls, or has executed its program.
type Child struct{ PID, PIDFD int }

// Start fails.
func Start(*Program, Namespaces, int) (*Child, error) {
	return nil, errors.New("starting containers from images is not possible on this processor")
}

// Wait is never called.
func (*Child) Wait() error { return nil }
