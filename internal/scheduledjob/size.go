package scheduledjob

import stintv1 "github.com/stint-dev/stint/api/stint/v1"

// sizeOf estimates the size of an entry in bytes.
func sizeOf(e stintv1.Execution) int {
	size := 512 + len(e.Message) + sizeOfOverrides(e.Overrides)
	for _, c := range e.ExitCodes {
		size += 48 + len(c.Indexes)
	}
	return size
}

func sizeOfOverrides(o *stintv1.Overrides) int {
	size := 0
	if o == nil {
		return size
	}
	for _, v := range o.Env {
		size += 32 + len(v.Name) + len(v.Value)
	}
	for _, arg := range o.Args {
		size += 4 + len(arg)
	}
	return size
}

// maxOverrides bounds the overrides that the status keeps of a run that is not pending any more, in bytes: its Job has them.
const maxOverrides = 1024

// KeptOverrides returns the overrides that the status keeps of a run that is not pending any more: all, or nil if they are large.
func KeptOverrides(o *stintv1.Overrides) *stintv1.Overrides {
	if sizeOfOverrides(o) > maxOverrides {
		return nil
	}
	return o
}
