package schedules

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

// Request is a request for a run.
type Request struct {
	// Tag names the run: requests with the same tag are one run. Empty for a generated tag.
	Tag string
	// Overrides are nil if nothing is overridden.
	Overrides *stintv1.Overrides
}

// Run is a requested run.
type Run struct {
	Namespace string `json:"namespace"`
	// Job is the name of its Job, which may not exist yet.
	Job string `json:"job"`
	// Kind and Name are those of its CronJob or ScheduledJob.
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	Tag  string `json:"tag"`
	// Again is set if the run had been requested before.
	Again bool `json:"again,omitempty"`
	// WaitsFor are runs that must finish before it starts.
	WaitsFor []string `json:"waitsFor,omitempty"`

	// job is the Job of a CronJob's run, else nil.
	job *batchv1.Job
}

// describe names the run in a sentence.
func (r Run) describe() string { return fmt.Sprintf("run %s of %s %s", r.Tag, r.Kind, r.Name) }

// String describes the run, its Job and what it waits for.
func (r Run) String() string {
	text := r.describe()
	if r.Again {
		text += " exists already"
	}
	text += ": job " + r.Job
	if len(r.WaitsFor) > 0 {
		text += ", which waits for " + strings.Join(r.WaitsFor, ", ")
	}
	return text
}

// Trigger requests a run of a CronJob or ScheduledJob.
func (c *Clients) Trigger(ctx context.Context, owner metav1.Object, r Request) (Run, error) {
	if owner.GetDeletionTimestamp() != nil {
		return Run{}, fmt.Errorf("%s is being deleted", owner.GetName())
	}
	if r.Tag == "" {
		r.Tag = generatedTag(owner.GetName())
	}
	switch owner := owner.(type) {
	case *batchv1.CronJob:
		return c.runCronJob(ctx, owner, r)
	case *stintv1.ScheduledJob:
		return c.runScheduledJob(ctx, owner, r)
	}
	return Run{}, fmt.Errorf("%T has no runs", owner)
}

// generatedTag returns a random tag, a shorter one if the name of the Job would otherwise be too long.
func generatedTag(name string) string {
	const suffix = 5
	tag := scheduledjob.GenerateTag(rand.String(suffix))
	if len(name)+1+len(tag) > validation.DNS1123LabelMaxLength {
		tag = "m-" + rand.String(suffix)
	}
	return tag
}

// NewRequest returns the request that the user's flags and arguments describe.
func NewRequest(tag, container string, env, args []string) (Request, error) {
	if tag != "" && !scheduledjob.ManualTag(tag) {
		return Request{}, inputErrorf("--tag %q: begin with a lower-case letter and go on with lower-case letters, digits "+
			"and -, 15 in all; the last one is no -", tag)
	}
	o := &stintv1.Overrides{Container: container, Args: args}
	seen := map[string]bool{}
	for _, pair := range env {
		name, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || name == "":
			return Request{}, inputErrorf("--env %q: write NAME=VALUE", pair)
		case seen[name]:
			return Request{}, inputErrorf("--env %s is there twice: leave one out", name)
		}
		seen[name] = true
		o.Env = append(o.Env, corev1.EnvVar{Name: name, Value: value})
	}
	switch {
	case len(env) == 0 && len(args) == 0 && container != "":
		return Request{}, inputErrorf("--container %s: nothing is changed in it: add --env NAME=VALUE or -- ARG…", container)
	case len(env) == 0 && len(args) == 0:
		return Request{Tag: tag}, nil
	}
	return Request{Tag: tag, Overrides: o}, nil
}
