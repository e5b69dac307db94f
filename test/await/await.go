// Package await lets tests wait for a condition of a process, a server or an object, and never for time to pass. A slow
// machine makes no test fail: a wait fails only when its condition is still false after Limit, which is far longer than
// any machine needs.
package await

import (
	"context"
	"testing"
	"time"
)

// Limit bounds every wait of every test.
const Limit = 5 * time.Minute

// The pause between two polls doubles, from firstPause up to lastPause.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// Until waits until ok returns true. At the limit the test fails at once; the message has what was waited for and what
// state returns.
func Until(t testing.TB, what string, ok func() bool, state ...func() string) {
	t.Helper()
	if err := Poll(context.Background(), func(context.Context) (bool, error) { return ok(), nil }); err != nil {
		t.Fatalf("not within %s: %s%s", Limit, what, describe(state))
	}
}

// Poll waits where there is no test to fail, such as on a goroutine that is not the test's own. It returns nil when
// done returns true, the error of done if there is one, and the context's error when ctx ends or the limit is reached.
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

// Value receives a value from a channel. If none comes within the limit, the test fails at once.
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
