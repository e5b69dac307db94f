package job

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestJobNumbers(t *testing.T) {
	set := func(name string, value int32) jobEdit {
		return specEdit(func(s *batchv1.JobSpec) {
			switch name {
			case "parallelism":
				s.Parallelism = &value
			case "completions":
				s.Completions = &value
			case "activeDeadlineSeconds":
				s.ActiveDeadlineSeconds = ptr.To(int64(value))
			case "backoffLimit":
				s.BackoffLimit = &value
			case "ttlSecondsAfterFinished":
				s.TTLSecondsAfterFinished = &value
			case "backoffLimitPerIndex":
				s.BackoffLimitPerIndex = &value
			case "maxFailedIndexes":
				s.MaxFailedIndexes, s.BackoffLimitPerIndex = &value, ptr.To[int32](1)
			}
		})
	}
	cases := map[string]createCase{"a manifest with nothing but a template is accepted": {}}
	for _, name := range []string{"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
		"ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"} {
		cases[name+" may be 0"] = createCase{edits: edits(indexed(1, 1), set(name, 0))}
		cases[name+" may not be -1"] = createCase{
			edits: edits(indexed(1, 1), set(name, -1)),
			want:  []string{"spec." + name + " Invalid"},
		}
	}
	// With 0 completions there is no index that could fail, so set no other field.
	cases["completions may be 0"] = createCase{edits: edits(indexed(1, 1), set("completions", 0))}
	runCreateCases(t, cases)
}

func TestJobCompletionMode(t *testing.T) {
	perIndex := specEdit(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) })
	maxFailed := func(n int32) jobEdit { return specEdit(func(s *batchv1.JobSpec) { s.MaxFailedIndexes = &n }) }
	noCompletions := specEdit(func(s *batchv1.JobSpec) { s.Completions = nil })
	runCreateCases(t, map[string]createCase{
		"an unknown mode is refused": {
			edits(specEdit(func(s *batchv1.JobSpec) { s.CompletionMode = ptr.To(batchv1.CompletionMode("Sorted")) })),
			[]string{"spec.completionMode NotSupported"}},
		"an Indexed Job needs completions":                 {edits(indexed(1, 1), noCompletions), []string{"spec.completions Required"}},
		"an Indexed Job may run 100,000 pods":              {edits(indexed(100_000, 100_000)), nil},
		"an Indexed Job may not run 100,001 pods":          {edits(indexed(100_000, 100_001)), []string{"spec.parallelism Invalid"}},
		"other Jobs may run 100,001 pods":                  {edits(specEdit(func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](100_001) })), nil},
		"backoffLimitPerIndex needs indexes":               {edits(perIndex), []string{"spec.backoffLimitPerIndex Invalid"}},
		"maxFailedIndexes needs indexes":                   {edits(perIndex, maxFailed(1)), []string{"spec.backoffLimitPerIndex Invalid", "spec.maxFailedIndexes Invalid"}},
		"maxFailedIndexes needs backoffLimitPerIndex":      {edits(indexed(5, 1), maxFailed(1)), []string{"spec.backoffLimitPerIndex Required"}},
		"all indexes may fail":                             {edits(indexed(5, 1), perIndex, maxFailed(5)), nil},
		"no more indexes can fail than there are":          {edits(indexed(5, 1), perIndex, maxFailed(6)), []string{"spec.maxFailedIndexes Invalid"}},
		"100,000 indexes may fail":                         {edits(indexed(100_000, 1), perIndex, maxFailed(100_000)), nil},
		"100,000 completions need no maxFailedIndexes":     {edits(indexed(100_000, 100_000), perIndex), nil},
		"100,001 completions need a maxFailedIndexes":      {edits(indexed(100_001, 1), perIndex), []string{"spec.maxFailedIndexes Required"}},
		"100,001 completions without it are free":          {edits(indexed(100_001, 100_000)), nil},
		"10,000 of 100,001 indexes may fail":               {edits(indexed(100_001, 10_000), perIndex, maxFailed(10_000)), nil},
		"10,001 of 100,001 indexes may not fail":           {edits(indexed(100_001, 1), perIndex, maxFailed(10_001)), []string{"spec.maxFailedIndexes Invalid"}},
		"100,001 completions may not run as 10,001 pods":   {edits(indexed(100_001, 10_001), perIndex, maxFailed(1)), []string{"spec.parallelism Invalid"}},
		"100,001 failing indexes break both of the limits": {edits(indexed(100_001, 1), perIndex, maxFailed(100_001)), []string{"spec.maxFailedIndexes Invalid", "spec.maxFailedIndexes Invalid"}},
	})
}

func TestJobNames(t *testing.T) {
	long := func(n int) jobEdit { return named(strings.Repeat("a", n)) }
	runCreateCases(t, map[string]createCase{
		"63 characters are a label's":                     {edits(long(63)), nil},
		"64 characters are no label":                      {edits(long(64)), []string{"metadata.name Invalid", "spec.template.labels Invalid", "spec.template.labels Invalid"}},
		"64 characters do with a selector of one's own":   {edits(long(64), manualSelector(map[string]string{"app": "pi"})), nil},
		"an Indexed Job leaves room for the last index":   {edits(long(61), indexed(10, 1)), nil},
		"an Indexed Job may not overflow with the index":  {edits(long(61), indexed(11, 1)), []string{"metadata.name Invalid"}},
		"an Indexed Job without indexes has no host name": {edits(long(63), indexed(0, 1)), nil},
		"an Indexed Job's host names have no dots":        {edits(named("a.b"), indexed(1, 1)), []string{"metadata.name Invalid"}},
		"another Job's name may have dots":                {edits(named("a.b")), nil},
	})
}

func TestJobManagedBy(t *testing.T) {
	by := func(name string) []jobEdit {
		return edits(specEdit(func(s *batchv1.JobSpec) { s.ManagedBy = &name }))
	}
	runCreateCases(t, map[string]createCase{
		"a domain and a path are accepted":  {by("stint.dev/job-controller"), nil},
		"a path without domain is refused":  {by("job-controller"), []string{"spec.managedBy Invalid"}},
		"a domain without path is refused":  {by("stint.dev/"), []string{"spec.managedBy Invalid"}},
		"an empty name is refused":          {by(""), []string{"spec.managedBy Required"}},
		"63 characters are accepted":        {by("a.io/" + strings.Repeat("x", 58)), nil},
		"64 characters are refused":         {by("a.io/" + strings.Repeat("x", 59)), []string{"spec.managedBy TooLong"}},
		"a domain in capitals is refused":   {by("Stint.dev/x"), []string{"spec.managedBy Invalid"}},
		"a space in the path is refused":    {by("stint.dev/a b"), []string{"spec.managedBy Invalid"}},
		"slashes in the path are no matter": {by("stint.dev/a/b"), nil},
	})
}

func TestJobRestartPolicy(t *testing.T) {
	policy := func(p corev1.RestartPolicy) jobEdit {
		return specEdit(func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = p })
	}
	const path = "spec.template.spec.restartPolicy "
	runCreateCases(t, map[string]createCase{
		"Never is accepted":               {edits(policy(corev1.RestartPolicyNever)), nil},
		"OnFailure is accepted":           {edits(policy(corev1.RestartPolicyOnFailure)), nil},
		"Always is refused":               {edits(policy(corev1.RestartPolicyAlways)), []string{path + "Required"}},
		"none is refused":                 {edits(policy("")), []string{path + "Required"}},
		"OnFailure hides failed pods":     {edits(policy(corev1.RestartPolicyOnFailure), failurePolicy(failOnExit(1))), []string{path + "Invalid"}},
		"Never shows failed pods":         {edits(failurePolicy(failOnExit(1))), nil},
		"Always hides failed pods, too":   {edits(policy(corev1.RestartPolicyAlways), failurePolicy(failOnExit(1))), []string{path + "Required"}},
		"a policy of no pod is refused":   {edits(policy("Sometimes")), []string{path + "NotSupported", path + "NotSupported"}},
		"a pod may restart in any replay": {edits(onFailure, suspended), nil},
	})
}

func TestJobPodReplacementPolicy(t *testing.T) {
	replace := func(p batchv1.PodReplacementPolicy) jobEdit {
		return specEdit(func(s *batchv1.JobSpec) { s.PodReplacementPolicy = &p })
	}
	want := []string{"spec.podReplacementPolicy NotSupported"}
	runCreateCases(t, map[string]createCase{
		"Failed is accepted":                                     {edits(replace(batchv1.Failed)), nil},
		"TerminatingOrFailed is accepted":                        {edits(replace(batchv1.TerminatingOrFailed)), nil},
		"others are refused":                                     {edits(replace("Never")), want},
		"the empty one is refused":                               {edits(replace("")), want},
		"Failed is accepted beside a failure policy":             {edits(failurePolicy(failOnExit(1)), replace(batchv1.Failed)), nil},
		"TerminatingOrFailed is refused beside a failure policy": {edits(failurePolicy(failOnExit(1)), replace(batchv1.TerminatingOrFailed)), want},
	})
}

func TestJobRefusesWhatIsNotThere(t *testing.T) {
	annotated := func(key string) []jobEdit {
		return edits(func(job *batchv1.Job) { job.Annotations = map[string]string{key: "3"} })
	}
	cases := map[string]createCase{
		"other annotations are the author's own": {annotated("stint.dev.example.com/x"), nil},
		"ephemeral containers are no part of a template": {
			edits(specEdit(func(s *batchv1.JobSpec) {
				s.Template.Spec.EphemeralContainers = []corev1.EphemeralContainer{{
					EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "busybox"}}}
			})),
			[]string{"spec.template.spec.ephemeralContainers Forbidden"}},
		"scheduling as a group is refused": {
			edits(specEdit(func(s *batchv1.JobSpec) { s.Scheduling = &batchv1.JobSchedulingConfiguration{} })),
			[]string{"spec.scheduling Forbidden"}},
	}
	runCreateCases(t, cases)
}
