package run

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
)

func TestInterruptedRunDoesNotWaitForeverForWhatDoesNotGo(t *testing.T) {
	s := newTestSession(t)
	s.follower.stopper.deletionTimeout = time.Millisecond
	interrupts := make(chan os.Signal, 1)
	s.follower.interrupts = interrupts
	held := suspendedJob("held")
	held.Finalizers = []string{"example.com/hold"}
	held.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0)
	job, err := s.batch().Jobs("default").Create(t.Context(), held, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.follower.track(job, output.Created, 0)
	interrupts <- os.Interrupt
	err = s.follower.follow(t.Context(), false)
	if !errors.Is(err, ErrInterrupted) {
		t.Fatalf("the run ended with %v", err)
	}
	want := "interrupted\njob default/held still exists: it waits for the finalizer example.com/hold"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestTheFinalizerThatOnlyWaitsIsLeftOut(t *testing.T) {
	for sentence, tc := range map[string]struct{ finalizers, want []string }{
		"where another holds the Job":  {[]string{"foregroundDeletion", "example.com/hold"}, []string{"example.com/hold"}},
		"not where it is the only one": {[]string{"foregroundDeletion"}, []string{"foregroundDeletion"}},
	} {
		if diff := cmp.Diff(tc.want, withoutWaiting(tc.finalizers)); diff != "" {
			t.Errorf("%s: %s", sentence, diff)
		}
	}
}

func TestStuck(t *testing.T) {
	pressed := time.Unix(1000, 0)
	for sentence, tc := range map[string]struct {
		presses, deleting int
		wentAt            time.Time
		after             time.Duration
		want              bool
	}{
		"nobody has pressed Ctrl-C":                {0, 0, time.Time{}, time.Hour, false},
		"nothing was left to delete":               {1, 0, time.Time{}, time.Hour, false},
		"there is time left":                       {1, 1, time.Time{}, time.Minute, false},
		"nothing has gone for too long":            {1, 1, time.Time{}, time.Minute + 1, true},
		"something has gone since":                 {1, 1, pressed.Add(time.Minute), 2 * time.Minute, false},
		"something has gone, and nothing any more": {1, 1, pressed.Add(time.Minute), 2*time.Minute + 1, true},
		"something had gone before it was deleted": {1, 1, pressed.Add(-time.Minute), time.Minute, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := &stopper{jobs: &tracker{lastDeletedAt: tc.wentAt}, presses: tc.presses, last: pressed, deleting: tc.deleting > 0, limit: time.Minute}
			if got := s.stuck(pressed.Add(tc.after)); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
