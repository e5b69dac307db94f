package job

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/wrappers"
)

func annotated(pairs []string) *wrappers.JobWrapper {
	w := aJob()
	for i := 0; i < len(pairs); i += 2 {
		w.Annotation(pairs[i], pairs[i+1])
	}
	return w
}

func TestReadAnnotations(t *testing.T) {
	number := func(n int) *int { return &n }
	numbered := func(i int) *corev1.Pod { return aPod(podNumber(i)).Obj() }
	seconds := func(n int) *time.Duration { return ptr.To(time.Duration(n) * time.Second) }
	tests := map[string]struct {
		key, value string
		want       AnnotationSettings
		// remedy is part of the error, empty for none.
		remedy string
	}{
		"a delay":                           {BackoffSeconds, "10", AnnotationSettings{Backoff: seconds(10)}, ""},
		"no delay":                          {BackoffSeconds, "0", AnnotationSettings{Backoff: seconds(0)}, ""},
		"leading zeros are read as decimal": {BackoffSeconds, "010", AnnotationSettings{Backoff: seconds(10)}, ""},
		"the longest delay":                 {BackoffSeconds, "2147483647", AnnotationSettings{Backoff: seconds(2147483647)}, ""},
		"one second more":                   {BackoffSeconds, "2147483648", AnnotationSettings{}, "from 0 to 2147483647"},
		"more than any number":              {BackoffSeconds, strings.Repeat("9", 400), AnnotationSettings{}, "from 0 to 2147483647"},
		"nothing at all":                    {BackoffSeconds, "", AnnotationSettings{}, "from 0 to 2147483647"},
		"spaces":                            {BackoffSeconds, " 10 ", AnnotationSettings{}, "from 0 to 2147483647"},
		"a unit":                            {BackoffSeconds, "10s", AnnotationSettings{}, "from 0 to 2147483647"},
		"a sign":                            {BackoffSeconds, "+5", AnnotationSettings{}, "from 0 to 2147483647"},
		"less than nothing":                 {MaxBackoffSeconds, "-1", AnnotationSettings{}, "from 0 to 2147483647"},
		"no failed pods":                    {FailedPodsLimit, "0", AnnotationSettings{FailedPodsLimit: number(0)}, ""},
		"some failed pods":                  {FailedPodsLimit, "3", AnnotationSettings{FailedPodsLimit: number(3)}, ""},
		"half a failed pod":                 {FailedPodsLimit, "0.5", AnnotationSettings{}, "from 0 to 2147483647"},
		"a timeout":                         {PendingTimeoutSeconds, "60", AnnotationSettings{PendingTimeout: time.Minute}, ""},
		"a timeout of nothing":              {PendingTimeoutSeconds, "0", AnnotationSettings{}, "from 1 to 2147483647"},
		"queueing counts":                   {PendingTimeoutIncludesQueueing, "true", AnnotationSettings{PendingTimeoutIncludesQueueing: true}, ""},
		"queueing does not":                 {PendingTimeoutIncludesQueueing, "false", AnnotationSettings{}, ""},
		"queueing may":                      {PendingTimeoutIncludesQueueing, "yes", AnnotationSettings{}, "must be true or false"},
		"queueing is not said":              {PendingTimeoutIncludesQueueing, "", AnnotationSettings{}, "must be true or false"},
		"one Job":                           {DependsOn, "a", AnnotationSettings{DependsOn: []DependencyRule{{"a", DependsOnComplete}}}, ""},
		"two Jobs": {DependsOn, " a , b = Finished ", AnnotationSettings{DependsOn: []DependencyRule{
			{"a", DependsOnComplete}, {"b", DependsOnFinished}}}, ""},
		"a Job that fails":                {DependsOn, "a=Failed", AnnotationSettings{DependsOn: []DependencyRule{{"a", DependsOnFailed}}}, ""},
		"no Job":                          {DependsOn, "", AnnotationSettings{}, "must be names of Jobs"},
		"a comma too many":                {DependsOn, "a,", AnnotationSettings{}, "must be names of Jobs"},
		"an end of no Job":                {DependsOn, "=Failed", AnnotationSettings{}, "must be names of Jobs"},
		"a name that no Job can have":     {DependsOn, "A", AnnotationSettings{}, "must be names of Jobs"},
		"no end":                          {DependsOn, "a=", AnnotationSettings{}, "Complete, Failed or Finished"},
		"an end that Jobs do not have":    {DependsOn, "a=complete", AnnotationSettings{}, "Complete, Failed or Finished"},
		"two ends":                        {DependsOn, "a=Failed=Complete", AnnotationSettings{}, "Complete, Failed or Finished"},
		"a Job twice":                     {DependsOn, "a, a=Failed", AnnotationSettings{}, "twice"},
		"some processes":                  {PodMaxPIDs, "100", AnnotationSettings{}, ""},
		"any number of processes":         {PodMaxPIDs, "-1", AnnotationSettings{}, ""},
		"no process":                      {PodMaxPIDs, "0", AnnotationSettings{}, "from 1 to 2147483647, or -1"},
		"fewer processes than any":        {PodMaxPIDs, "-2", AnnotationSettings{}, "from 1 to 2147483647, or -1"},
		"more processes than any":         {PodMaxPIDs, "2147483648", AnnotationSettings{}, "from 1 to 2147483647, or -1"},
		"processes in words":              {PodMaxPIDs, "", AnnotationSettings{}, "from 1 to 2147483647, or -1"},
		"more Jobs than conditions allow": {DependsOn, strings.Join(names(repeat(33, numbered)), ","), AnnotationSettings{}, "at most 32 Jobs"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, errs := ReadAnnotations(map[string]string{tt.key: tt.value, "other": tt.value}, AnnotationsPath)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if tt.remedy == "" {
				if len(errs) > 0 {
					t.Errorf("refused: %v", errs)
				}
				return
			}
			if len(errs) != 1 || errs[0].Field != "metadata.annotations["+tt.key+"]" || !strings.Contains(errs[0].Error(), tt.remedy) {
				t.Errorf("errors %v, want one that says %q", errs, tt.remedy)
			}
		})
	}
}

func TestADelayBelowItsOwnStartIsRefused(t *testing.T) {
	got, errs := ReadAnnotations(map[string]string{BackoffSeconds: "30", MaxBackoffSeconds: "20"}, AnnotationsPath)
	if len(errs) != 1 || got.Backoff == nil || got.MaxBackoff != nil {
		t.Errorf("%+v, errors %v", got, errs)
	}
}

// FuzzReadAnnotations expects each value to be either read or refused, and no negative setting.
func FuzzReadAnnotations(f *testing.F) {
	f.Add("10", "600", "3", "60", "true", "a, b=Finished")
	f.Add("", "-1", "+5", "1e3", "TRUE", "a,,b")
	f.Fuzz(func(t *testing.T, backoff, longest, limit, timeout, queueing, dependsOn string) {
		annotations := map[string]string{BackoffSeconds: backoff, MaxBackoffSeconds: longest, FailedPodsLimit: limit,
			PendingTimeoutSeconds: timeout, PendingTimeoutIncludesQueueing: queueing, DependsOn: dependsOn}
		a, errs := ReadAnnotations(annotations, AnnotationsPath)
		refused := func(key string) bool {
			for _, err := range errs {
				if err.Field == "metadata.annotations["+key+"]" {
					return true
				}
			}
			return false
		}
		read := map[string]bool{BackoffSeconds: a.Backoff != nil, MaxBackoffSeconds: a.MaxBackoff != nil, FailedPodsLimit: a.FailedPodsLimit != nil,
			PendingTimeoutSeconds: a.PendingTimeout > 0, DependsOn: len(a.DependsOn) > 0}
		for key, was := range read {
			if was == refused(key) {
				t.Errorf("%s %q: read %v, refused %v", key, annotations[key], was, refused(key))
			}
		}
		if a.Backoff != nil && *a.Backoff < 0 || a.MaxBackoff != nil && *a.MaxBackoff < 0 || a.FailedPodsLimit != nil && *a.FailedPodsLimit < 0 {
			t.Errorf("negative: %+v", a)
		}
	})
}

func TestDelaysFromAnnotations(t *testing.T) {
	tests := map[string]struct {
		annotations []string
		// want are the delays after the first failures, in seconds.
		want []int
	}{
		"the document's sequence":               {[]string{BackoffSeconds, "10"}, []int{10, 20, 40, 80, 160, 320}},
		"without annotations it is the same":    {nil, []int{10, 20, 40, 80, 160, 320, 600, 600}},
		"another start":                         {[]string{BackoffSeconds, "3"}, []int{3, 6, 12, 24, 48, 96}},
		"no delay":                              {[]string{BackoffSeconds, "0"}, []int{0, 0, 0}},
		"no delay, whatever its bound":          {[]string{BackoffSeconds, "0", MaxBackoffSeconds, "5"}, []int{0, 0}},
		"a bound":                               {[]string{BackoffSeconds, "10", MaxBackoffSeconds, "25"}, []int{10, 20, 25, 25}},
		"a bound as long as the start":          {[]string{BackoffSeconds, "10", MaxBackoffSeconds, "10"}, []int{10, 10, 10}},
		"a bound beyond the controller's":       {[]string{MaxBackoffSeconds, "1000"}, []int{10, 20, 40, 80, 160, 320, 640, 1000}},
		"a bound below the controller's start":  {[]string{MaxBackoffSeconds, "4"}, []int{4, 4}},
		"a bound of nothing":                    {[]string{MaxBackoffSeconds, "0"}, []int{0, 0}},
		"a start beyond the controller's bound": {[]string{BackoffSeconds, "1200"}, []int{1200, 1200}},
		"a bad start leaves the default":        {[]string{BackoffSeconds, "soon"}, []int{10, 20}},
		"a bad bound leaves the default":        {[]string{BackoffSeconds, "400", MaxBackoffSeconds, "20"}, []int{400, 600, 600}},
		"the longest of all does not overflow":  {[]string{BackoffSeconds, "2147483647"}, []int{2147483647, 2147483647}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for n, want := range tt.want {
				whole := newView(observed(annotated(tt.annotations).Obj(),
					repeat(n+1, func(i int) *corev1.Pod { return aPod(podNumber(i)).Exited(1, at(60)).Obj() })...))
				if got := jobDelay(whole); got != time.Duration(want)*time.Second {
					t.Errorf("after %d failures: %v, want %d s", n+1, got, want)
				}
				last := aPod("p").Index(1).IndexFailureCount(n).Exited(1, at(60)).Obj()
				index := newView(observed(annotated(tt.annotations).Indexed().BackoffLimitPerIndex(100).Obj(), last))
				if got := indexDelay(index, last); got != time.Duration(want)*time.Second {
					t.Errorf("after %d failures of an index: %v, want %d s", n+1, got, want)
				}
			}
		})
	}
}

func TestRetryingAtOnceIgnoresTheNodesClock(t *testing.T) {
	j := aJob().Annotation(BackoffSeconds, "0").Obj()
	if d := Decide(observed(j, aPod("p").Exited(1, at(3600)).Obj())); len(d.Create) == 0 || d.RequeueAfter > 0 {
		t.Errorf("creates %d pods, requeues after %v", len(d.Create), d.RequeueAfter)
	}
}
