package job

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Annotations of a Job that ask for what batch/v1 has no field for, so that the manifest stays valid on any cluster.
const (
	// BackoffSeconds is the delay after a first failure; each further one doubles it. 0 retries at once.
	BackoffSeconds = "stint.dev/backoff-seconds"
	// MaxBackoffSeconds bounds the delay.
	MaxBackoffSeconds = "stint.dev/max-backoff-seconds"
	// FailedPodsLimit is how many failed pods are kept, the newest. Their number is counted all the same.
	FailedPodsLimit = "stint.dev/failed-pods-limit"
	// PendingTimeoutSeconds is how long a pod may take until all its containers have started.
	PendingTimeoutSeconds = "stint.dev/pending-timeout-seconds"
	// PendingTimeoutIncludesQueueing has that time run also while a pod waits for its turn on a node that queues pods.
	PendingTimeoutIncludesQueueing = "stint.dev/pending-timeout-includes-queueing"
	// DependsOn names Jobs of the same namespace that must have ended first: "extract, clean=Finished".
	DependsOn = "stint.dev/depends-on"
)

// Annotations are the names of all that can be asked for.
func Annotations() []string {
	return []string{BackoffSeconds, MaxBackoffSeconds, FailedPodsLimit,
		PendingTimeoutSeconds, PendingTimeoutIncludesQueueing, DependsOn}
}

// AnnotationsPath is where a Job has its annotations.
var AnnotationsPath = field.NewPath("metadata", "annotations")

// maxDependencies bounds the conditions that dependencies take in a Job's status.
const maxDependencies = 32

// AnnotationSettings is what the annotations of a Job ask for. The zero value asks for nothing.
type AnnotationSettings struct {
	// Backoff and MaxBackoff stand in for the settings of the same meaning.
	Backoff, MaxBackoff *time.Duration
	FailedPodsLimit     *int
	// PendingTimeout is 0 for none.
	PendingTimeout                 time.Duration
	PendingTimeoutIncludesQueueing bool
	DependsOn                      []DependencyRule
}

// DependencyRule is one entry of the annotation DependsOn.
type DependencyRule struct {
	// Job is a name in the namespace of the Job that depends on it.
	Job string
	End DependencyCondition
}

// DependencyCondition is how a Job must have ended for another to start.
type DependencyCondition string

// The ends that can be asked for.
const (
	DependsOnComplete DependencyCondition = "Complete"
	DependsOnFailed   DependencyCondition = "Failed"
	// DependsOnFinished takes either.
	DependsOnFinished DependencyCondition = "Finished"
)

// ReadAnnotations reads what annotations ask for. What is wrong asks for nothing and is among the errors.
func ReadAnnotations(annotations map[string]string, p *field.Path) (AnnotationSettings, field.ErrorList) {
	r := annotationReader{annotations: annotations, path: p}
	a := AnnotationSettings{
		Backoff:         r.seconds(BackoffSeconds, 0),
		MaxBackoff:      r.seconds(MaxBackoffSeconds, 0),
		FailedPodsLimit: r.number(FailedPodsLimit, 0),

		PendingTimeoutIncludesQueueing: r.boolean(PendingTimeoutIncludesQueueing),

		DependsOn: r.dependsOn(),
	}
	if timeout := r.seconds(PendingTimeoutSeconds, 1); timeout != nil {
		a.PendingTimeout = *timeout
	}
	if a.Backoff != nil && a.MaxBackoff != nil && *a.MaxBackoff < *a.Backoff {
		r.refuse(MaxBackoffSeconds, fmt.Sprintf("must be at least %s, which is %s", BackoffSeconds, annotations[BackoffSeconds]))
		a.MaxBackoff = nil
	}
	return a, r.errs
}

// overriddenBy returns the settings with what a Job asks for in their place. A delay above the bound for all Jobs raises it.
func (s Settings) overriddenBy(a AnnotationSettings) Settings {
	if a.Backoff != nil {
		s.PodFailureBackoff = *a.Backoff
		s.MaxPodFailureBackoff = max(s.MaxPodFailureBackoff, s.PodFailureBackoff)
	}
	if a.MaxBackoff != nil {
		s.MaxPodFailureBackoff = *a.MaxBackoff
	}
	if a.FailedPodsLimit != nil {
		s.FailedPodsLimit = a.FailedPodsLimit
	}
	return s
}

type annotationReader struct {
	annotations map[string]string
	path        *field.Path
	errs        field.ErrorList
}

func (r *annotationReader) refuse(key, why string) {
	r.errs = append(r.errs, field.Invalid(r.path.Key(key), r.annotations[key], why))
}

func (r *annotationReader) number(key string, least int) *int {
	text, ok := r.annotations[key]
	if !ok {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 31) // which takes no sign
	if err != nil || int(n) < least {
		r.refuse(key, fmt.Sprintf("must be a whole number from %d to %d", least, math.MaxInt32))
		return nil
	}
	number := int(n)
	return &number
}

func (r *annotationReader) seconds(key string, least int) *time.Duration {
	n := r.number(key, least)
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * time.Second
	return &d
}

func (r *annotationReader) boolean(key string) bool {
	text, ok := r.annotations[key]
	if ok && text != "true" && text != "false" {
		r.refuse(key, "must be true or false")
	}
	return text == "true"
}

// dependsOn reads NAME or NAME=END, separated by commas.
func (r *annotationReader) dependsOn() []DependencyRule {
	text, ok := r.annotations[DependsOn]
	if !ok {
		return nil
	}
	var list []DependencyRule
	for entry := range strings.SplitSeq(text, ",") {
		d, why := parseDependencyRule(strings.TrimSpace(entry))
		if why == "" && slices.ContainsFunc(list, func(other DependencyRule) bool { return other.Job == d.Job }) {
			why = fmt.Sprintf("names Job %s twice", d.Job)
		}
		if why != "" {
			r.refuse(DependsOn, why)
			return nil
		}
		list = append(list, d)
	}
	if len(list) > maxDependencies {
		r.refuse(DependsOn, fmt.Sprintf("must name at most %d Jobs", maxDependencies))
		return nil
	}
	return list
}

func parseDependencyRule(entry string) (d DependencyRule, why string) {
	name, end, given := strings.Cut(entry, "=")
	d = DependencyRule{Job: strings.TrimSpace(name), End: DependsOnComplete}
	if given {
		d.End = DependencyCondition(strings.TrimSpace(end))
	}
	if problems := validation.IsDNS1123Subdomain(d.Job); len(problems) > 0 {
		return d, fmt.Sprintf("must be names of Jobs, such as \"extract, clean=Finished\"; %q is none: %s", d.Job, problems[0])
	}
	if !slices.Contains([]DependencyCondition{DependsOnComplete, DependsOnFailed, DependsOnFinished}, d.End) {
		return d, fmt.Sprintf("%s=%s: a Job ends %s, %s or %s", d.Job, d.End, DependsOnComplete, DependsOnFailed, DependsOnFinished)
	}
	return d, ""
}
