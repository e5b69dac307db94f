package scheduledjob

import stintv1 "github.com/stint-dev/stint/api/stint/v1"

// sizeOf is about what an entry takes.
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

// maxOverrides bounds what is kept of a run that does not wait any more: its Job has it all.
const maxOverrides = 1024

// KeptOverrides is what the status shows of the overrides of a run that does not wait any more.
func KeptOverrides(o *stintv1.Overrides) *stintv1.Overrides {
	if sizeOfOverrides(o) > maxOverrides {
		return nil
	}
	return o
}
