package await_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-dev/stint/test/await"
)

// failing is a test whose failure is recorded.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// saidBy runs a wait and returns the message with which it failed the test, or "".
func saidBy(t *testing.T, wait func(testing.TB)) string {
	f, ended := &failing{TB: t}, make(chan struct{})
	go func() {
		defer close(ended)
		wait(f)
	}()
	<-ended
	return f.said
}

func TestAWaitEndsWithWhatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		await.Until(t, "almost the limit", func() bool { return time.Since(begun) > await.Limit-time.Minute })
		values := make(chan int)
		go func() { time.Sleep(await.Limit - time.Minute); values <- 7 }()
		if got := await.Value(t, "seven", values); got != 7 {
			t.Errorf("received %d", got)
		}
	})
}

func TestAWaitForNothingFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		said := saidBy(t, func(t testing.TB) {
			await.Until(t, "what never comes", func() bool { return false }, func() string { return "as it was" })
		})
		if !strings.Contains(said, "what never comes\nas it was") || time.Since(begun) < await.Limit {
			t.Errorf("after %s it said %q", time.Since(begun), said)
		}
		said = saidBy(t, func(t testing.TB) { await.Value(t, "a value", make(chan int)) })
		if !strings.Contains(said, "a value") {
			t.Errorf("it said %q", said)
		}
	})
}

func TestAPollEndsWithWhatItWaitsForOrAnError(t *testing.T) {
	broken := errors.New("broken")
	never := func(context.Context) (bool, error) { return false, nil }
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		late := func(context.Context) (bool, error) { return time.Since(begun) > await.Limit-time.Minute, nil }
		if err := await.Poll(t.Context(), late); err != nil {
			t.Errorf("what comes late: %v", err)
		}
		if err := await.Poll(t.Context(), func(context.Context) (bool, error) { return false, broken }); !errors.Is(err, broken) {
			t.Errorf("what fails: %v", err)
		}
		if err := await.Poll(t.Context(), never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("what never comes: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := await.Poll(ctx, never); !errors.Is(err, context.Canceled) {
			t.Errorf("what is waited for no more: %v", err)
		}
	})
}
