package store

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestReadsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReaders()
		finish := make(chan struct{})
		go func() {
			_ = r.read(t.Context(), func(ctx context.Context) error {
				<-ctx.Done()
				<-finish // The read still goes on for a while.
				return nil
			})
		}()
		synctest.Wait()
		closed := make(chan struct{})
		go func() {
			r.close()
			close(closed)
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("the database would be closed while it is read")
		default:
		}
		close(finish)
		<-closed
		if err := r.read(t.Context(), func(context.Context) error { panic("it is closed") }); !errors.Is(err, errClosed) {
			t.Errorf("a later read: %v", err)
		}
	})
}
