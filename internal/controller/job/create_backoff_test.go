package job

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/stint-dev/stint/internal/job"
)

var (
	errQuota       = apierrors.NewForbidden(corev1.Resource("pods"), "p", errors.New("exceeded quota"))
	errUnreachable = errors.New("connection refused")
)

func TestPauseAfterRefusedPods(t *testing.T) {
	r := createBackoff{}
	if !r.until().IsZero() {
		t.Error("pauses without a refusal")
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		r.add(noon, errQuota, false)
		if got := r.until().Sub(noon); got != want*time.Second {
			t.Errorf("pauses %v after %d refusals, want %v", got, r.n, want*time.Second)
		}
	}
	for range 1000 {
		r.add(noon, errQuota, false)
	}
	if got := r.until().Sub(noon); got != time.Minute {
		t.Errorf("pauses %v after very many", got)
	}
	r.resetDelay()
	if got := r.until().Sub(noon); got != time.Second {
		t.Errorf("pauses %v once a pod has ended", got)
	}
}

func TestRefusalsAreOneRow(t *testing.T) {
	at := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }
	refusal := func(since, last int) *core.CreateFailure {
		return &core.CreateFailure{Since: at(since), Last: at(last), Message: errQuota.Error()}
	}
	for name, tt := range map[string]struct {
		happens func(*createBackoff)
		want    *core.CreateFailure
	}{
		"nothing": {happens: func(*createBackoff) {}},
		"one after the other": {
			happens: func(r *createBackoff) { r.add(at(0), errQuota, false); r.add(at(1), errQuota, false) }, want: refusal(0, 1),
		},
		"several at once": {
			happens: func(r *createBackoff) { r.add(at(0), errors.Join(errUnreachable, errQuota, errQuota), false) }, want: refusal(0, 0),
		},
		"some pods were made": {
			happens: func(r *createBackoff) { r.add(at(0), errQuota, false); r.add(at(1), errQuota, true) }, want: refusal(1, 1),
		},
		"a pod has ended": {happens: func(r *createBackoff) { r.add(at(0), errQuota, false); r.resetDelay() }},
		"and then others are refused": {
			happens: func(r *createBackoff) { r.add(at(0), errQuota, false); r.resetDelay(); r.add(at(9), errQuota, false) }, want: refusal(9, 9),
		},
		"no answer says nothing": {
			happens: func(r *createBackoff) { r.add(at(0), errQuota, false); r.add(at(1), errUnreachable, false) }, want: refusal(0, 0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := createBackoff{}
			tt.happens(&r)
			if diff := cmp.Diff(tt.want, r.lastFailure); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusalsForGood(t *testing.T) {
	gone := apierrors.NewForbidden(corev1.Resource("pods"), "p", errors.New("terminating"))
	gone.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	r := createBackoff{}
	r.add(noon, gone, false)
	if !r.namespaceTerminating {
		t.Error("a namespace that is being deleted may have pods again")
	}
}
