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

// Annotations of a Job for settings that batch/v1 has no field for. Being annotations, they are valid on any cluster.
const (
	// BackoffSeconds is the delay after a first failure; each further one doubles it. 0 retries at once.
	BackoffSeconds = "stint.dev/backoff-seconds"
	// MaxBackoffSeconds bounds the delay.
	MaxBackoffSeconds = "stint.dev/max-backoff-seconds"
	// FailedPodsLimit is how many failed pods are kept: the newest. The deleted ones still count in status.failed.
	FailedPodsLimit = "stint.dev/failed-pods-limit"
	// PendingTimeoutSeconds is how long a pod may take until all its containers have started.
	PendingTimeoutSeconds = "stint.dev/pending-timeout-seconds"
	// PendingTimeoutIncludesQueueing, if "true", counts the time in which a node queues a pod towards that timeout.
	PendingTimeoutIncludesQueueing = "stint.dev/pending-timeout-includes-queueing"
	// DependsOn names Jobs of the same namespace that must have ended first: "extract, clean=Finished".
	DependsOn = "stint.dev/depends-on"
	// PodMaxPIDs is how many processes and threads a container may have; -1 is without limit. stint server sets its own limit when a Job
	// without one is created, so that another server runs the rest of the Job in the same way. The pods have the annotation too.
	PodMaxPIDs = "stint.dev/pod-max-pids"
)

// RuntimeClass is the annotation of a Job, and of its pods, with the RuntimeClass of pods whose template names none. stint server sets
// it when the Job is created, so that another server runs the rest of the Job in the same way. A cluster does not know it.
const RuntimeClass = "stint.dev/runtime-class"

// Annotations returns the keys of the annotations with settings.
func Annotations() []string {
	return []string{BackoffSeconds, MaxBackoffSeconds, FailedPodsLimit,
		PendingTimeoutSeconds, PendingTimeoutIncludesQueueing, DependsOn, PodMaxPIDs}
}

// AnnotationsPath is the field path of a Job's annotations, for errors.
var AnnotationsPath = field.NewPath("metadata", "annotations")

// maxDependencies bounds the conditions in a Job's status, which has one for each dependency.
const maxDependencies = 32

// AnnotationSettings are the settings in the annotations of a Job. The zero value has none.
type AnnotationSettings struct {
	// Backoff and MaxBackoff override PodFailureBackoff and MaxPodFailureBackoff of Settings.
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

// The ends that a Job can depend on.
const (
	DependsOnComplete DependencyCondition = "Complete"
	DependsOnFailed   DependencyCondition = "Failed"
	// DependsOnFinished is met by either.
	DependsOnFinished DependencyCondition = "Finished"
)

// ReadAnnotations parses annotations; p is their path in errors. An invalid annotation is reported as an error and leaves
// its setting unset.
func ReadAnnotations(annotations map[string]string, p *field.Path) (AnnotationSettings, field.ErrorList) {
	r := annotationReader{annotations: annotations, path: p}
	a := AnnotationSettings{
		Backoff:         r.seconds(BackoffSeconds, 0),
		MaxBackoff:      r.seconds(MaxBackoffSeconds, 0),
		FailedPodsLimit: r.number(FailedPodsLimit, 0),

		PendingTimeoutIncludesQueueing: r.boolean(PendingTimeoutIncludesQueueing),

		DependsOn: r.dependsOn(),
	}
	r.checkPodMaxPIDs()
	if timeout := r.seconds(PendingTimeoutSeconds, 1); timeout != nil {
		a.PendingTimeout = *timeout
	}
	if a.Backoff != nil && a.MaxBackoff != nil && *a.MaxBackoff < *a.Backoff {
		r.refuse(MaxBackoffSeconds, fmt.Sprintf("must be at least %s, which is %s", BackoffSeconds, annotations[BackoffSeconds]))
		a.MaxBackoff = nil
	}
	return a, r.errs
}

// overriddenBy returns s with the settings of a Job's annotations in their place. A Backoff above the controller's
// MaxPodFailureBackoff raises that too.
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
	n, err := strconv.ParseUint(text, 10, 31) // accepts no sign
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

func (r *annotationReader) checkPodMaxPIDs() {
	if _, ok := r.annotations[PodMaxPIDs]; ok && PodMaxPIDsOf(r.annotations) == 0 {
		r.refuse(PodMaxPIDs, fmt.Sprintf("must be a whole number from 1 to %d, or -1 for no limit", math.MaxInt32))
	}
}

// PodMaxPIDsOf returns the value of the annotation PodMaxPIDs; 0 if there is none that is valid.
func PodMaxPIDsOf(annotations map[string]string) int64 {
	n, err := strconv.ParseInt(annotations[PodMaxPIDs], 10, 32)
	if err != nil || n < -1 {
		return 0
	}
	return n
}

// dependsOn parses entries of the form NAME or NAME=END, separated by commas.
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
		return d, fmt.Sprintf("must be names of Jobs, such as \"extract, clean=Finished\"; %q is not a name: %s", d.Job, problems[0])
	}
	if !slices.Contains([]DependencyCondition{DependsOnComplete, DependsOnFailed, DependsOnFinished}, d.End) {
		return d, fmt.Sprintf("%s=%s: the end must be %s, %s or %s", d.Job, d.End, DependsOnComplete, DependsOnFailed, DependsOnFinished)
	}
	return d, ""
}
