package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestWhichErrorsAreTriedAgain(t *testing.T) {
	pods := corev1.Resource("pods")
	for name, c := range map[string]struct {
		err                   error
		unanswered, undecided bool
	}{
		"refused connection":       {&url.Error{Op: "Post", Err: syscall.ECONNREFUSED}, true, true},
		"broken connection":        {fmt.Errorf("reading: %w", syscall.ECONNRESET), true, true},
		"no answer in time":        {&url.Error{Op: "Post", Err: context.DeadlineExceeded}, true, true},
		"timeout":                  {apierrors.NewTimeoutError("late", 0), true, true},
		"timeout, to come back":    {apierrors.NewTimeoutError("late", 1), false, true},
		"unavailable":              {apierrors.NewServiceUnavailable("no"), true, true},
		"broken server":            {apierrors.NewInternalError(errors.New("broken")), false, true},
		"busy":                     {apierrors.NewTooManyRequests("busy", 1), false, true},
		"busy, nothing about when": {apierrors.NewTooManyRequestsError("busy"), false, true},
		"conflict":                 {apierrors.NewConflict(pods, "p", errors.New("changed")), false, false},
		"forbidden":                {apierrors.NewForbidden(pods, "p", errors.New("quota")), false, false},
		"invalid, wrapped":         {fmt.Errorf("creating: %w", apierrors.NewBadRequest("bad")), false, false},
		"nothing":                  {nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isRetriable(c.err); got != c.undecided {
				t.Errorf("undecided: %v", got)
			}
			if c.err != nil && outcomeUnknown(c.err) != c.unanswered {
				t.Errorf("unanswered: %v", !c.unanswered)
			}
		})
	}
}

func TestPersistGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			policy retryPolicy
			err    error
			within time.Duration
			tries  int
			unsure bool
		}{
			"connection refused":  {shortRetry, syscall.ECONNREFUSED, 1100 * time.Millisecond, 4, false},
			"connection breaks":   {shortRetry, syscall.ECONNRESET, 1100 * time.Millisecond, 4, true},
			"no answer in time":   {shortRetry, context.DeadlineExceeded, 1100 * time.Millisecond, 4, true},
			"long retry":          {longRetry, syscall.ECONNRESET, 10 * time.Second, 6, true},
			"refused at once":     {shortRetry, apierrors.NewBadRequest("bad"), 0, 1, false},
			"refused, long retry": {longRetry, apierrors.NewBadRequest("bad"), 0, 1, false},
		} {
			start, tries := time.Now(), 0
			_, unsure, err := retry(t.Context(), c.policy, func() (int, error) { tries++; return 0, c.err })
			if took := time.Since(start); took > c.within || tries != c.tries || unsure != c.unsure || !errors.Is(err, c.err) {
				t.Errorf("%s: %v after %d tries in %s, unsure %v", name, err, tries, took, unsure)
			}
		}
		// After the end of the context there is no other try, whatever the error of the last one.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, last := range []error{context.DeadlineExceeded, context.Canceled, syscall.ECONNRESET} {
			tries := 0
			_, _, err := retry(ctx, longRetry, func() (int, error) { tries++; <-ctx.Done(); return 0, last })
			if !errors.Is(err, last) || tries != 1 {
				t.Errorf("after the end: %v, %d tries", err, tries)
			}
		}
	})
}
