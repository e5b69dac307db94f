package volumes

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/test/await"
)

// untilEnded is a volume with so many files that giving it to its group does not end.
func untilEnded(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestAPodWaitsForItsVolumeAndIsWoken(t *testing.T) {
	woken, finish := make(chan types.UID, 1), make(chan struct{})
	s := NewShares(func(pod types.UID) { woken <- pod })
	give := func(context.Context) error {
		<-finish
		return errors.New("refused")
	}
	var sharing SharingError
	for range 2 {
		if err := s.share(t.Context(), "pod", "data", give); !errors.As(err, &sharing) {
			t.Fatalf("the start is told %v", err)
		}
	}
	close(finish)
	if pod := await.Value(t, "it is woken", woken); pod != "pod" {
		t.Errorf("woken is %q", pod)
	}
	if err := s.share(t.Context(), "pod", "data", untilEnded); err == nil || err.Error() != "refused" {
		t.Errorf("the start is told %v", err)
	}
	if err := s.share(t.Context(), "pod", "data", func(context.Context) error { return nil }); err != nil {
		t.Errorf("after an error it is not tried again: %v", err)
	}
}

func TestAShareEndsWithItsPodAndWithTheServer(t *testing.T) {
	s := NewShares(func(types.UID) {})
	server, stop := context.WithCancel(t.Context())
	ended := make(chan string, 2)
	for _, pod := range []string{"deleted", "other"} {
		_ = s.share(server, types.UID(pod), "data", func(ctx context.Context) error {
			defer func() { ended <- pod }()
			return untilEnded(ctx)
		})
	}
	s.End("deleted")
	select {
	case pod := <-ended:
		if pod != "deleted" {
			t.Errorf("the share of %q has ended", pod)
		}
	default:
		t.Error("the share goes on without its pod")
	}
	stop()
	s.Wait()
	if pod := await.Value(t, "the other ends", ended); pod != "other" {
		t.Errorf("the share of %q has ended", pod)
	}
}
