//go:build !linux || !(amd64 || arm64)

package stage

import (
	"context"
	"errors"
)

// Supported is whether the package supports this processor.
const Supported = false

// Namespaces are those that a child gets of its own, as flags of clone.
type Namespaces uint64

// Child is a process that makes its calls, or has executed its program.
type Child struct{ PID, PIDFD int }

// Start fails.
func Start(*Program, Namespaces, int) (*Child, error) {
	return nil, errors.New("starting containers from images is not possible on this processor")
}

// Wait is never called.
func (*Child) Wait(context.Context) error { return nil }
