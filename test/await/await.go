// Package await is how tests wait: for what a process, a server or an object shows, and never for time to pass. A machine
// may be as slow as it likes; a wait ends in failure only when what it waits for does not come at all.
package await

import (
	"context"
	"testing"
	"time"
)

// Limit bounds every wait of every test.
const Limit = 5 * time.Minute

// The pause between two looks doubles from the first to the last.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// Until waits until ok reports true. When it never does, the test fails at once, with what was waited for and what state
// describes.
func Until(t testing.TB, what string, ok func() bool, state ...func() string) {
	t.Helper()
	if err := Poll(context.Background(), func(context.Context) (bool, error) { return ok(), nil }); err != nil {
		t.Fatalf("not within %s: %s%s", Limit, what, describe(state))
	}
}

// Poll waits where there is no test to fail, as on a goroutine that is not the test's own. It returns when done reports
// true or returns an error, and otherwise the error of the context that ended, or of the limit.
func Poll(ctx context.Context, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		if ok, err := done(ctx); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// Value receives from a channel. When nothing comes, the test fails at once.
func Value[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	limit := time.NewTimer(Limit)
	defer limit.Stop()
	select {
	case v := <-from:
		return v
	case <-limit.C:
		t.Fatalf("not within %s: %s", Limit, what)
		panic("unreachable")
	}
}

// Context ends with the test, or at the limit.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Limit)
	t.Cleanup(cancel)
	return ctx
}

func describe(state []func() string) (text string) {
	for _, s := range state {
		text += "\n" + s()
	}
	return text
}
