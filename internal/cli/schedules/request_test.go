package schedules

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

func TestRequestsOfUsers(t *testing.T) {
	type input struct {
		tag, container string
		env, args      []string
	}
	for sentence, tc := range map[string]struct {
		input
		want Request
		says string
	}{
		"nothing is changed":            {input{}, Request{}, ""},
		"a tag":                         {input{tag: "march-1"}, Request{Tag: "march-1"}, ""},
		"a tag like a due time":         {input{tag: "20260301-120000"}, Request{}, "begin with a lower-case letter"},
		"a tag that is too long":        {input{tag: "sixteen-letters-"}, Request{}, "15 in all"},
		"a value may be empty":          {input{env: []string{"A="}}, Request{Overrides: &stintv1.Overrides{Env: []corev1.EnvVar{{Name: "A"}}}}, ""},
		"a value may hold =":            {input{env: []string{"A=b=c"}}, Request{Overrides: &stintv1.Overrides{Env: []corev1.EnvVar{{Name: "A", Value: "b=c"}}}}, ""},
		"args of a container":           {input{container: "side", args: []string{"a"}}, Request{Overrides: &stintv1.Overrides{Container: "side", Args: []string{"a"}}}, ""},
		"a variable without a value":    {input{env: []string{"A"}}, Request{}, "write NAME=VALUE"},
		"a value without a variable":    {input{env: []string{"=a"}}, Request{}, "write NAME=VALUE"},
		"a variable twice":              {input{env: []string{"A=1", "A=2"}}, Request{}, "there twice"},
		"a container, and nothing more": {input{container: "side"}, Request{}, "nothing is changed in it"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := NewRequest(tc.tag, tc.container, tc.env, tc.args)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if tc.says == "" && err != nil || tc.says != "" && (!errors.As(err, new(InputError)) || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("error %v, want %q", err, tc.says)
			}
		})
	}
}

func TestNamesOfUsers(t *testing.T) {
	both := []Kind{CronJob, ScheduledJob}
	for text, want := range map[string][2]string{
		"nightly":                        {"", "nightly"},
		"cj/nightly":                     {"cronjob", "nightly"},
		"CronJobs/nightly":               {"cronjob", "nightly"},
		"sj/nightly":                     {"scheduledjob", "nightly"},
		"scheduledjob.stint.dev/night.1": {"scheduledjob", "night.1"},
	} {
		kind, name, err := parseName(text, both)
		if diff := cmp.Diff(want, [2]string{string(kind), name}); diff != "" || err != nil {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
	for text, says := range map[string]string{
		"job/nightly": "is no CronJob or ScheduledJob",
		"/nightly":    "is no CronJob or ScheduledJob",
		"pod/nightly": "write NAME, or KIND/NAME such as scheduledjob/nightly",
		"cj/":         "cannot be a name",
		"cj/a/b":      "cannot be a name",
		"":            "cannot be a name",
		"Nightly":     "cannot be a name",
	} {
		_, _, err := parseName(text, both)
		if !errors.As(err, new(InputError)) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want %q", text, err, says)
		}
	}
}

func TestGeneratedTagsFitIntoTheNameOfAJob(t *testing.T) {
	const longestCronJob = 52
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Repeat("a", rapid.IntRange(1, longestCronJob).Draw(t, "length"))
		tag := generatedTag(name)
		if !scheduledjob.ManualTag(tag) || len(scheduledjob.JobName(name, tag)) > validation.DNS1123LabelMaxLength {
			t.Errorf("tag %q for a name of %d characters", tag, len(name))
		}
	})
}
