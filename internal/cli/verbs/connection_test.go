package verbs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/cli/verbs"
	"github.com/stint-dev/stint/test/await"
)

func TestCloseGivesUpASearchThatIsUnderWay(t *testing.T) {
	searching, ended := make(chan struct{}), make(chan error, 1)
	connection := &verbs.Connection{Find: func(ctx context.Context) (*target.Target, error) {
		close(searching)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	go func() {
		_, err := connection.ToRESTConfig()
		ended <- err
	}()
	await.Value(t, "the search", searching)
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
	if err := await.Value(t, "the end of the search", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}
