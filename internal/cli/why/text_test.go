package why

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/visible"
	"github.com/stint-dev/stint/test/wrappers"
)

var update = flag.Bool("update", false, "write golden files")

// explained is the folder of internal/job/explain's golden files, one explanation for each state.
const explained = "../../job/explain/testdata"

// TestEveryStateFitsOnAScreen compares the text of each of these explanations with a golden file.
func TestEveryStateFitsOnAScreen(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(explained, "*.golden"))
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d explanations in %s: %v", len(paths), explained, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".golden"), func(t *testing.T) {
			x := read(t, path)
			tails := make([][]string, len(x.Failures))
			for i := range tails {
				tails[i] = []string{"connecting", "no such table: \x1b[2Jusers"}
			}
			var text strings.Builder
			if err := (Text{Zone: time.UTC, NoController: strings.Contains(path, "without-a-server")}).Job(&text, x, tails); err != nil {
				t.Fatal(err)
			}
			if lines := strings.Count(text.String(), "\n"); lines > 25 {
				t.Errorf("%d lines", lines)
			}
			golden(t, filepath.Base(path), text.String())
		})
	}
}

func TestOneFailedIndexIsNotCalledIndexes(t *testing.T) {
	want := "0 succeeded, 0 active of parallelism 2, 1 failed, 1 failed index"
	if got := progress(stintv1.JobProgress{Parallelism: 2, Failed: 1, FailedIndexes: 1}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func read(t *testing.T, path string) *stintv1.JobExplanation {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x := &stintv1.JobExplanation{}
	if err := yaml.UnmarshalStrict(raw, x); err != nil {
		t.Fatal(err)
	}
	return x
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got (go test -update ./internal/cli/why):\n%s", diff)
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	x := read(t, filepath.Join(explained, "it-failed-at-its-deadline.golden"))
	for _, colour := range []bool{false, true} {
		var text strings.Builder
		if err := (Text{Zone: time.UTC, Colour: colour}).Job(&text, x, nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), red+"Failed"); got != colour {
			t.Errorf("red %v, want %v:\n%s", got, colour, text.String())
		}
	}
}

func TestEveryKindOfWaitHasAName(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(explained, "*.golden"))
	for _, path := range paths {
		for _, w := range read(t, path).Waits {
			if names[w.For] == "" {
				t.Errorf("%s: no words for %s", path, w.For)
			}
		}
	}
}

func TestSchedules(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	due := metav1.NewTime(now.Add(time.Hour))
	cron := func(change func(*batchv1.CronJob)) metav1.Object {
		return wrappers.MakeCronJob("nightly", "0 3 * * *").With(change).Obj()
	}
	scheduled := func(change func(*stintv1.ScheduledJob)) metav1.Object {
		s := wrappers.MakeScheduledJob("report").Obj()
		s.Status.NextScheduleTime = &due
		change(s)
		return s
	}
	for sentence, object := range map[string]metav1.Object{
		"a CronJob waits for its time": cron(func(c *batchv1.CronJob) { c.Status.LastScheduleTime = ptr.To(metav1.NewTime(now.Add(-9 * time.Hour))) }),
		"a CronJob is suspended":       cron(func(c *batchv1.CronJob) { c.Spec.Suspend = ptr.To(true) }),
		"a CronJob runs":               cron(func(c *batchv1.CronJob) { c.Status.Active = []corev1.ObjectReference{{Name: "nightly-1"}} }),
		"a CronJob is held by Forbid": cron(func(c *batchv1.CronJob) {
			c.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
			c.Status.LastScheduleTime = ptr.To(metav1.NewTime(now.Add(-57 * time.Hour)))
			c.Status.Active = []corev1.ObjectReference{{Name: "nightly-1"}}
		}),
		"a CronJob has another zone":             cron(func(c *batchv1.CronJob) { c.Spec.TimeZone = ptr.To("Asia/Tokyo") }),
		"a CronJob is on a cluster":              cron(func(*batchv1.CronJob) {}),
		"a CronJob is where no server runs":      cron(func(*batchv1.CronJob) {}),
		"a ScheduledJob is where no server runs": scheduled(func(*stintv1.ScheduledJob) {}),
		"a CronJob cannot be read":               cron(func(c *batchv1.CronJob) { c.Spec.Schedule = "never" }),
		"a ScheduledJob waits":                   scheduled(func(*stintv1.ScheduledJob) {}),
		"a ScheduledJob is on demand":            scheduled(func(s *stintv1.ScheduledJob) { s.Status.NextScheduleTime = nil }),
		"a ScheduledJob is suspended":            scheduled(func(s *stintv1.ScheduledJob) { s.Spec.Suspend = ptr.To(true) }),
		"a ScheduledJob is blocked": scheduled(func(s *stintv1.ScheduledJob) {
			s.Status.Conditions = []metav1.Condition{{Type: stintv1.ConditionBlocked, Status: metav1.ConditionTrue, Message: "run a failed"}}
		}),
		"a ScheduledJob has runs": scheduled(func(s *stintv1.ScheduledJob) {
			s.Status.RunningExecutions = []stintv1.Execution{{Tag: "a"}}
			s.Status.PendingExecutions = []stintv1.Execution{{Tag: "b", Reason: "WaitingForTurn", Message: "run a goes first"}}
		}),
	} {
		t.Run(sentence, func(t *testing.T) {
			var text strings.Builder
			show := Text{Zone: time.UTC, Remote: strings.Contains(sentence, "cluster"), NoController: strings.Contains(sentence, "no server")}
			if err := show.Schedule(&text, object, now); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("schedules", strings.ReplaceAll(sentence, " ", "-")+".golden"), text.String())
		})
	}
}

func TestNothingOfAnExplanationActsOnTheTerminal(t *testing.T) {
	const acting = "\x1b[2J\a\u009b2J"
	x := read(t, filepath.Join(explained, "it-failed-at-its-deadline.golden"))
	x.Name, x.Summary, x.Manager, x.State = acting, acting, acting, acting
	var text strings.Builder
	if err := (Text{Zone: time.UTC, Colour: true}).Job(&text, x, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), acting) || strings.Count(text.String(), visible.Text(acting)) != 4 {
		t.Errorf("%q", text.String())
	}
}
