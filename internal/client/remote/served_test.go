package remote

import (
	"encoding/json"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func TestOnlyAResponseShowsThatAKindIsKnown(t *testing.T) {
	unknown := apierrors.NewNotFound(schema.GroupResource{}, "")
	away, busy := syscall.ECONNREFUSED, apierrors.NewTooManyRequestsError("busy")
	const known, notKnown = "The API server serves scheduledjobs now", "The API server does not serve scheduledjobs: they are not managed until it does"
	for sentence, c := range map[string]struct {
		// answers are the server's responses, one by one. whenServed returns each except NotFound, and is called again.
		answers []error
		said    []string
		missing bool
	}{
		"nothing is logged while the kind is known": {answers: []error{nil, away, nil}},
		"that it is unknown is logged once":         {[]error{unknown, unknown, unknown, nil}, []string{notKnown, known}, false},
		"a server that is away may know it or not":  {[]error{unknown, away, away}, []string{notKnown}, true},
		"a busy server may know it or not":          {[]error{unknown, busy, unknown, busy}, []string{notKnown}, true},
		"it is known once it is, and may be lost":   {[]error{unknown, away, nil, unknown, nil}, []string{notKnown, known, notKnown, known}, false},
		"a server that was down at first knows it":  {answers: []error{away, busy, nil}},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &resource[*stintv1.ScheduledJob]{kind: scheduledJobs}
				var said []string
				log := funcr.NewJSON(func(line string) {
					var entry struct{ Msg string }
					if err := json.Unmarshal([]byte(line), &entry); err != nil {
						t.Error(err)
					}
					said = append(said, entry.Msg)
				}, funcr.Options{})
				ctx := klog.NewContext(t.Context(), log)
				for left := c.answers; len(left) > 0; {
					var last error
					err := r.whenServed(ctx, func() error { last, left = left[0], left[1:]; return last })
					if !errors.Is(err, last) || (err == nil) != (last == nil) {
						t.Errorf("error %v, want %v", err, last)
					}
				}
				if diff := cmp.Diff(c.said, said); diff != "" {
					t.Errorf("said (-want +got):\n%s", diff)
				}
				if r.missing.Load() != c.missing {
					t.Errorf("missing is %v", !c.missing)
				}
			})
		})
	}
}
