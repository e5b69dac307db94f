package loop_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
)

func TestWhatFailsIsLookedAtAgainUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		q := loop.NewQueue("test", nil)
		looks := 0
		q.Add(types.NamespacedName{Name: "a"})
		go q.Run(ctx, 2, func(context.Context, types.NamespacedName) error {
			if looks++; looks < 3 {
				return errors.New("not yet")
			}
			return nil
		})
		time.Sleep(time.Hour)
		cancel()
		synctest.Wait()
		if looks != 3 {
			t.Errorf("looked at %d times", looks)
		}
	})
}

func TestRunEndsAfterTheLastLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		q := loop.NewQueue("test", nil)
		over := false
		q.Add(types.NamespacedName{Name: "a"})
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		q.Run(ctx, 1, func(context.Context, types.NamespacedName) error {
			time.Sleep(time.Minute)
			over = true
			return errors.New("not looked at again")
		})
		if !over {
			t.Error("a look was under way")
		}
	})
}
