package runtime

import "time"

// ResourceUsage is what the processes of an attempt use.
type ResourceUsage struct {
	// Running is whether the attempt runs. If it does not, the rest is zero.
	Running bool
	// CPU is the time that they have computed for. Only its growth says something: where it starts is not defined.
	CPU time.Duration
	// Memory is their working set in bytes.
	Memory int64
}
