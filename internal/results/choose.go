package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	core "github.com/stint-dev/stint/internal/job"
)

// AttemptQuery names an attempt at a Job's work.
type AttemptQuery struct {
	// Index is the completion index; nil where the Job has none, or the pod is named.
	Index *int64
	// Pod is a pod's name.
	Pod string
	// Attempt counts from 1; nil is the last one.
	Attempt *int64
	// Previous selects the attempt before that.
	Previous bool
	// Container is the container whose log is asked for.
	Container string
}

// Selected is the attempt that an AttemptQuery selects.
type Selected struct {
	Pod *stintv1.PodResult
	// Restart is how often the pod's containers had been started before.
	Restart int32
	// Attempt is its number among the attempts at What, which names an index, a pod or the Job.
	Attempt int32
	What    string
}

// NotBegun is the cause in the status by which a server reports a NotBegunError.
const NotBegun metav1.CauseType = "NotBegun"

// NotBegunError says that there is no such attempt yet. There may be one later.
type NotBegunError struct{ text string }

func (e NotBegunError) Error() string { return e.text }

func (c *Selected) String() string {
	return fmt.Sprintf("attempt %d at %s (pod %s)", c.Attempt, c.What, c.Pod.Pod)
}

// Select returns the attempt that c selects, or an error that says what there is.
func Select(job *batchv1.Job, all *stintv1.JobResults, c AttemptQuery) (*Selected, error) {
	work, what, err := chooseWork(job, all, c)
	if err != nil {
		return nil, err
	}
	n := int64(work.Attempts)
	if n == 0 {
		return nil, notBegun(job, all, what, work)
	}
	if c.Attempt != nil {
		n = *c.Attempt
	}
	if c.Previous {
		n--
	}
	if n >= 1 && n <= int64(work.Attempts) {
		pod, restart, _ := Attempt(work, int32(n))
		chosen := &Selected{Pod: pod, Restart: restart, Attempt: int32(n), What: what}
		return chosen, chosen.neverBegun(job, c.Container)
	}
	if c.Previous && n == 0 {
		return nil, fmt.Errorf("there is no attempt at %s before the first", what)
	}
	text := fmt.Sprintf("there is no attempt %d: %s has %s", n, what, attempts(work.Attempts))
	if n < 1 || core.Finished(job) {
		return nil, errors.New(text)
	}
	return nil, NotBegunError{text}
}

func attempts(n int32) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

func notBegun(job *batchv1.Job, all *stintv1.JobResults, what string, work *stintv1.JobResult) error {
	why := because(work)
	if work.Pod == "" {
		why = orUnknown(job, all)
	}
	if core.Finished(job) {
		return errors.New(what + " was never started" + why)
	}
	return NotBegunError{what + " has not been started yet" + why}
}

func because(work *stintv1.JobResult) string {
	if work.Reason == "" {
		return ""
	}
	return ": " + work.Reason
}

// chooseWork returns all attempts at the index, pod or Job that c selects, and a name for it.
func chooseWork(job *batchv1.Job, all *stintv1.JobResults, c AttemptQuery) (*stintv1.JobResult, string, error) {
	indexed := core.ModeOf(job) == batchv1.IndexedCompletion
	switch {
	case c.Pod != "":
		work := OfPod(all.Items, c.Pod)
		if work == nil {
			return nil, "", fmt.Errorf("job %s has no pod %s%s", job.Name, c.Pod, orUnknown(job, all))
		}
		return work, "pod " + c.Pod, nil
	case c.Index != nil && !indexed:
		return nil, "", fmt.Errorf("job %s has no indexes: choose by pod or attempt", job.Name)
	case c.Index != nil:
		return chooseIndex(job, all, *c.Index)
	case indexed && ptr.Deref(job.Spec.Completions, 1) > 1:
		return nil, "", fmt.Errorf("job %s has %d indexes: choose one by its index", job.Name, ptr.Deref(job.Spec.Completions, 1))
	}
	if len(all.Items) > 1 && ptr.Deref(job.Spec.Parallelism, 1) > 1 {
		return nil, "", fmt.Errorf("job %s has run %d pods: choose one by its name", job.Name, len(all.Items))
	}
	if len(all.Items) == 0 && Unknown(job, all) > 0 {
		return nil, "", fmt.Errorf("no results of the terminated pods of job %s were kept", job.Name)
	}
	work := SequentialAttempts(all.Items)
	return &work, "job " + job.Name, nil
}

func chooseIndex(job *batchv1.Job, all *stintv1.JobResults, index int64) (*stintv1.JobResult, string, error) {
	what := fmt.Sprintf("index %d", index)
	completions := int64(ptr.Deref(job.Spec.Completions, 1))
	if index < 0 || index >= completions {
		return nil, "", fmt.Errorf("there is no index %d: job %s has indexes 0 to %d", index, job.Name, completions-1)
	}
	for i := range all.Items {
		if at := all.Items[i].Index; at != nil && int64(*at) == index {
			return &all.Items[i], what, nil
		}
	}
	return &stintv1.JobResult{}, what, nil
}

// orUnknown ends a message that says that something does not exist: its result may be one that was not kept. It is empty
// if all results were kept.
func orUnknown(job *batchv1.Job, all *stintv1.JobResults) string {
	switch n := Unknown(job, all); n {
	case 0:
		return ""
	case all.Dropped:
		return fmt.Sprintf(", or is among the %d oldest results, which are gone", n)
	default:
		return fmt.Sprintf(", or is among the %d of which no result was kept", n)
	}
}

// defaultContainer is the annotation of a pod that names the container to use if the user names none.
const defaultContainer = "kubectl.kubernetes.io/default-container"

// Container returns the name of a container of the Job's pods: the given one or, if that is empty, the default of the
// pods' annotation, else the first.
func Container(job *batchv1.Job, name string) (string, error) {
	spec := &job.Spec.Template.Spec
	var names []string
	for _, c := range slices.Concat(spec.Containers, spec.InitContainers) {
		names = append(names, c.Name)
	}
	if name == "" {
		name = job.Spec.Template.Annotations[defaultContainer]
		if !slices.Contains(names, name) {
			name = names[0]
		}
	}
	if !slices.Contains(names, name) {
		return "", fmt.Errorf("the pods of job %s have no container %s: choose from %s", job.Name, name, strings.Join(names, ", "))
	}
	return name, nil
}
