package job

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

type statusEdit func(*batchv1.JobStatus)

// statusCase is an update of the status of a Job with this spec, with the expected errors.
type statusCase struct {
	spec     []jobEdit
	was, now []statusEdit
	want     []string
}

func runStatusCases(t *testing.T, cases map[string]statusCase) {
	t.Helper()
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			old := createdJob(c.spec...)
			for _, edit := range c.was {
				edit(&old.Status)
			}
			job := old.DeepCopy()
			for _, edit := range c.now {
				edit(&job.Status)
			}
			registrytest.WantErrors(t, Resource(pod.Options{}).Status.ValidateUpdate(context.Background(), job, old), c.want...)
		})
	}
}

func status(e ...statusEdit) []statusEdit { return e }

func at(second int64) *metav1.Time { return &metav1.Time{Time: time.Unix(second, 0)} }

func started(s *batchv1.JobStatus)   { s.StartTime = at(1000) }
func completed(s *batchv1.JobStatus) { s.CompletionTime = at(2000) }

func condition(kind batchv1.JobConditionType, value corev1.ConditionStatus) statusEdit {
	return func(s *batchv1.JobStatus) {
		for i := range s.Conditions {
			if s.Conditions[i].Type == kind {
				s.Conditions[i].Status = value
				return
			}
		}
		s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: kind, Status: value})
	}
}

func is(kind batchv1.JobConditionType) statusEdit    { return condition(kind, corev1.ConditionTrue) }
func isNot(kind batchv1.JobConditionType) statusEdit { return condition(kind, corev1.ConditionFalse) }

var (
	met      = is(batchv1.JobSuccessCriteriaMet)
	target   = is(batchv1.JobFailureTarget)
	complete = []statusEdit{started, completed, met, is(batchv1.JobComplete)}
	failed   = []statusEdit{started, target, is(batchv1.JobFailed)}
)

func TestJobStatusNumbers(t *testing.T) {
	uncounted := func(succeeded, failed []types.UID) statusEdit {
		return func(s *batchv1.JobStatus) {
			s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: succeeded, Failed: failed}
		}
	}
	const list = "status.uncountedTerminatedPods."
	runStatusCases(t, map[string]statusCase{
		"numbers that grow are accepted": {now: status(func(s *batchv1.JobStatus) {
			s.Active, s.Succeeded, s.Failed, s.Ready, s.Terminating = 3, 1, 2, ptr.To[int32](3), ptr.To[int32](1)
		})},
		"active may not be -1":      {now: status(func(s *batchv1.JobStatus) { s.Active = -1 }), want: []string{"status.active Invalid"}},
		"succeeded may not be -1":   {now: status(func(s *batchv1.JobStatus) { s.Succeeded = -1 }), want: []string{"status.succeeded Invalid", "status.succeeded Invalid"}},
		"failed may not be -1":      {now: status(func(s *batchv1.JobStatus) { s.Failed = -1 }), want: []string{"status.failed Invalid", "status.failed Invalid"}},
		"ready may not be -1":       {now: status(func(s *batchv1.JobStatus) { s.Ready = ptr.To[int32](-1) }), want: []string{"status.ready Invalid"}},
		"terminating may not be -1": {now: status(func(s *batchv1.JobStatus) { s.Terminating = ptr.To[int32](-1) }), want: []string{"status.terminating Invalid"}},
		"more pods cannot be ready than are active": {
			now: status(func(s *batchv1.JobStatus) { s.Active, s.Ready = 2, ptr.To[int32](3) }), want: []string{"status.ready Invalid"}},

		"uncounted pods are accepted":               {now: status(uncounted([]types.UID{"a"}, []types.UID{"b"}))},
		"a pod is not to be counted twice":          {now: status(uncounted([]types.UID{"a", "a"}, nil)), want: []string{list + "succeeded[1] Duplicate"}},
		"a pod has not both succeeded and failed":   {now: status(uncounted([]types.UID{"a"}, []types.UID{"a"})), want: []string{list + "failed[0] Duplicate"}},
		"a pod has a UID":                           {now: status(uncounted([]types.UID{""}, nil)), want: []string{list + "succeeded[0] Invalid"}},
		"failed pods are counted for ever":          {was: status(func(s *batchv1.JobStatus) { s.Failed = 2 }), now: status(func(s *batchv1.JobStatus) { s.Failed = 1 }), want: []string{"status.failed Invalid"}},
		"pods that succeeded are counted for ever":  {was: status(func(s *batchv1.JobStatus) { s.Succeeded = 2 }), now: status(func(s *batchv1.JobStatus) { s.Succeeded = 1 }), want: []string{"status.succeeded Invalid"}},
		"a scaled down Job counts what is left":     {spec: edits(indexed(3, 3)), was: status(func(s *batchv1.JobStatus) { s.Succeeded = 2 }), now: status(func(s *batchv1.JobStatus) { s.Succeeded = 1 })},
		"an Indexed Job of other width counts on":   {spec: edits(indexed(3, 2)), was: status(func(s *batchv1.JobStatus) { s.Succeeded = 2 }), now: status(func(s *batchv1.JobStatus) { s.Succeeded = 1 }), want: []string{"status.succeeded Invalid"}},
		"a wrong number may be left as it is":       {was: status(func(s *batchv1.JobStatus) { s.Ready = ptr.To[int32](3) }), now: status(started)},
		"a finished Job has no active pods":         {was: complete, now: status(func(s *batchv1.JobStatus) { s.Active = 1 }), want: []string{"status.active Invalid"}},
		"a Job with active pods is not complete":    {was: status(func(s *batchv1.JobStatus) { s.Active = 1 }), now: complete, want: []string{"status.active Invalid"}},
		"a Job with active pods has not failed":     {was: status(func(s *batchv1.JobStatus) { s.Active = 1 }), now: failed, want: []string{"status.active Invalid"}},
		"a Job with terminating pods is not over":   {was: status(func(s *batchv1.JobStatus) { s.Terminating = ptr.To[int32](1) }), now: failed, want: []string{"status.terminating Invalid"}},
		"a Job with uncounted pods is not over":     {was: status(uncounted([]types.UID{"a"}, nil)), now: complete, want: []string{"status.uncountedTerminatedPods Invalid"}},
		"an empty list of uncounted pods is no bar": {was: status(uncounted([]types.UID{"a"}, nil)), now: append(status(uncounted(nil, nil)), complete...)},
	})
}

func TestJobStatusConditions(t *testing.T) {
	const conditions = "status.conditions Invalid"
	success := edits(indexed(3, 1), specEdit(func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: ptr.To[int32](1)}}}
	}))
	// These statuses are from before SuccessCriteriaMet and FailureTarget existed.
	oldComplete := status(started, completed, is(batchv1.JobComplete))
	oldFailed := status(started, is(batchv1.JobFailed))
	runStatusCases(t, map[string]statusCase{
		"a Job may be complete":                     {was: status(started), now: complete},
		"a Job may fail":                            {was: status(started), now: failed},
		"success may be announced":                  {was: status(started), now: status(met)},
		"failure may be announced":                  {was: status(started), now: status(target)},
		"a Job may be suspended and resumed":        {was: status(is(batchv1.JobSuspended)), now: status(isNot(batchv1.JobSuspended))},
		"Complete is for ever":                      {was: complete, now: status(isNot(batchv1.JobComplete), func(s *batchv1.JobStatus) { s.CompletionTime = nil }), want: []string{conditions}},
		"Failed is for ever":                        {was: failed, now: status(isNot(batchv1.JobFailed)), want: []string{conditions}},
		"FailureTarget is for ever":                 {was: status(target), now: status(isNot(batchv1.JobFailureTarget)), want: []string{conditions}},
		"SuccessCriteriaMet is for ever":            {was: status(met), now: status(isNot(batchv1.JobSuccessCriteriaMet)), want: []string{conditions}},
		"conditions that are gone are off":          {was: status(target), now: status(func(s *batchv1.JobStatus) { s.Conditions = nil }), want: []string{conditions}},
		"a complete Job has not failed":             {was: complete, now: status(is(batchv1.JobFailed)), want: []string{conditions, conditions, conditions}},
		"a Job cannot be about to fail and succeed": {was: status(met), now: status(target), want: []string{conditions}},
		"a Job about to fail cannot be complete":    {was: status(started, target), now: status(completed, is(batchv1.JobComplete)), want: []string{conditions, conditions}},
		"Complete is announced":                     {was: status(started), now: status(completed, is(batchv1.JobComplete)), want: []string{conditions}},
		"Failed is announced":                       {was: status(started), now: status(is(batchv1.JobFailed)), want: []string{conditions}},
		"a success policy is announced":             {spec: success, was: status(started), now: status(completed, is(batchv1.JobComplete)), want: []string{conditions, conditions}},
		"a success policy may be met":               {spec: success, was: status(started), now: complete},
		"announcements do not follow":               {was: oldComplete, now: status(met), want: []string{conditions}},
		"an old complete Job may be touched":        {was: oldComplete, now: status(func(s *batchv1.JobStatus) { s.Ready = ptr.To[int32](0) })},
		"an old failed Job may be touched":          {was: oldFailed, now: status(func(s *batchv1.JobStatus) { s.Ready = ptr.To[int32](0) })},
		"an unknown condition is not validated":     {now: status(is("example.com/Paid"))},
	})
}

func TestJobStatusTimes(t *testing.T) {
	start := func(second int64) statusEdit { return func(s *batchv1.JobStatus) { s.StartTime = at(second) } }
	noStart := func(s *batchv1.JobStatus) { s.StartTime = nil }
	complete2 := func(second int64) statusEdit { return func(s *batchv1.JobStatus) { s.CompletionTime = at(second) } }
	noCompletion := func(s *batchv1.JobStatus) { s.CompletionTime = nil }
	const startTime, completionTime = "status.startTime ", "status.completionTime "
	runStatusCases(t, map[string]statusCase{
		"a Job may start":                         {now: status(started)},
		"a start may be told in another zone":     {was: status(started), now: status(func(s *batchv1.JobStatus) { s.StartTime = &metav1.Time{Time: s.StartTime.UTC()} })},
		"a start may not move":                    {was: status(started), now: status(start(1001)), want: []string{startTime + "Invalid"}},
		"a start may not go":                      {was: status(started), now: status(noStart), want: []string{startTime + "Invalid"}},
		"a suspension takes the start away":       {spec: edits(suspended), was: status(started), now: status(noStart)},
		"a suspension may move the start":         {spec: edits(suspended), was: status(started), now: status(start(1001))},
		"a resumed Job starts anew":               {was: status(started, is(batchv1.JobSuspended)), now: status(start(1001), isNot(batchv1.JobSuspended))},
		"a Job that is suspended no longer stays": {was: status(started, isNot(batchv1.JobSuspended)), now: status(start(1001)), want: []string{startTime + "Invalid"}},
		"a suspended Job without completions need not start": {
			spec: edits(suspended, specEdit(func(s *batchv1.JobSpec) { s.Completions = ptr.To[int32](0) })),
			now:  append(append(status(), complete...), noStart)},
		"a finished Job has started":                {now: append(append(status(), failed...), noStart), want: []string{startTime + "Required"}},
		"a complete Job has a completion time":      {was: status(started), now: append(append(status(), complete...), noCompletion), want: []string{completionTime + "Required"}},
		"a Job that is not complete has none":       {was: status(started), now: status(completed), want: []string{completionTime + "Invalid"}},
		"a failed Job has none":                     {was: failed, now: status(completed), want: []string{completionTime + "Invalid"}},
		"a completion time may not move":            {was: complete, now: status(complete2(2001)), want: []string{completionTime + "Invalid"}},
		"a completion time may not go":              {was: complete, now: status(noCompletion), want: []string{completionTime + "Required"}},
		"a Job may complete as it starts":           {now: append(append(status(), complete...), complete2(1000))},
		"a Job does not complete before it starts":  {now: append(append(status(), complete...), complete2(999)), want: []string{completionTime + "Invalid"}},
		"a Job may be complete from the first look": {now: complete},
	})
}

func TestJobStatusIndexes(t *testing.T) {
	done := func(text string) statusEdit { return func(s *batchv1.JobStatus) { s.CompletedIndexes = text } }
	broken := func(text string) statusEdit { return func(s *batchv1.JobStatus) { s.FailedIndexes = &text } }
	ten := edits(indexed(10, 1), specEdit(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) }))
	const completedIndexes, failedIndexes = "status.completedIndexes Invalid", "status.failedIndexes Invalid"
	runStatusCases(t, map[string]statusCase{
		"indexes are accepted":                            {spec: ten, now: status(done("0,3-5,9"), broken("1-2,7"))},
		"completed indexes are below completions":         {spec: ten, now: status(done("10")), want: []string{completedIndexes}},
		"failed indexes are below completions":            {spec: ten, now: status(broken("10")), want: []string{failedIndexes}},
		"an index has not both completed and failed":      {spec: ten, now: status(done("1-3"), broken("3-5")), want: []string{failedIndexes}},
		"what was there counts for the overlap":           {spec: ten, was: status(done("3")), now: status(broken("3")), want: []string{failedIndexes}},
		"an index that failed does not complete":          {spec: ten, was: status(broken("3")), now: status(done("3")), want: []string{failedIndexes}},
		"indexes beyond a scaled down Job may be stored":  {spec: ten, was: status(done("1,11")), now: status(broken("2"))},
		"their overlap is still found":                    {spec: ten, was: status(done("1,11")), now: status(broken("1")), want: []string{failedIndexes}},
		"an overlap out of order is one mistake, not two": {spec: ten, was: status(broken("1")), now: status(done("2,1")), want: []string{completedIndexes}},
		"other Jobs have no completed indexes":            {now: status(done("0")), want: []string{completedIndexes}},
		"Jobs without a limit have no failed indexes":     {spec: edits(indexed(3, 1)), now: status(broken("0")), want: []string{failedIndexes}},
		"not even an empty list of them":                  {spec: edits(indexed(3, 1)), now: status(broken("")), want: []string{failedIndexes}},
		"an empty list is fine where there is a limit":    {spec: ten, now: status(broken(""))},
		"a work queue has no indexes":                     {spec: edits(specEdit(func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](2) })), now: status(done("0")), want: []string{completedIndexes}},
	})
}

func TestJobStatusUpdateKeepsTheSpec(t *testing.T) {
	old := createdJob()
	job := editedJob(old, suspended, func(job *batchv1.Job) { job.Status.Active = 1 })
	Resource(pod.Options{}).Status.PrepareForUpdate(context.Background(), job, old)
	if *job.Spec.Suspend || job.Status.Active != 1 {
		t.Errorf("suspend %v, active %d; want false and 1", *job.Spec.Suspend, job.Status.Active)
	}
}
