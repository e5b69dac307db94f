package job

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	"pgregory.net/rapid"
)

// DrawJob is for the tests of package job_test, which compare other packages with this one.
func DrawJob(t *rapid.T) *batchv1.Job { return drawJob(t) }

// Next returns the status that d leads to, also if it is stored already.
func Next(d Decision) *batchv1.JobStatus { return d.next }

// AnyHistory drives j through a random history, as TestAnyHistory does, with the actions in more added. After each step it
// calls check with what a controller observes.
func AnyHistory(t *rapid.T, j *batchv1.Job, more map[string]func(*rapid.T), check func(*rapid.T, Observation)) {
	w := newWorld(t, j)
	actions := w.actions()
	maps.Copy(actions, more)
	actions[""] = func(t *rapid.T) { check(t, w.observation()) }
	t.Repeat(actions)
}

// DrawDependencies draws states of the Jobs a and b, on which Job j depends.
func DrawDependencies(t *rapid.T) []Dependency {
	states := []func(name string) Dependency{
		absent,
		func(name string) Dependency { return dependency(name, aJob()) },
		func(name string) Dependency { return dependency(name, aJob().Suspend(true)) },
		func(name string) Dependency { return dependency(name, aJob().DeletionTimestamp(at(0))) },
		func(name string) Dependency { return dependency(name, complete()) },
		func(name string) Dependency { return dependency(name, failing()) },
		func(name string) Dependency { return cyclic(name, name, "j") },
	}
	return []Dependency{
		rapid.SampledFrom(states).Draw(t, "a")("a"),
		rapid.SampledFrom(states).Draw(t, "b")("b"),
	}
}
