package remote

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/await"
)

func TestAWatchWhoseEndIsLostEnds(t *testing.T) {
	for name, start := range map[string]func(http.ResponseWriter){
		"before it begins":   func(http.ResponseWriter) {},
		"after it has begun": func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				start(w)
				<-r.Context().Done()
			}))
			t.Cleanup(s.Close)
			c, err := New(&rest.Config{Host: s.URL, Timeout: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			ctx := await.Context(t)
			w, err := c.jobs.watch(ctx, metav1.ListOptions{TimeoutSeconds: ptr.To[int64](1)})
			if err == nil {
				defer w.Stop()
				for e := range w.ResultChan() {
					t.Errorf("an event: %v", e)
				}
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if ctx.Err() != nil {
				t.Error("it ended only with its caller")
			}
		})
	}
}

func TestARequestWithoutAnAnswerEnds(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(s.Close)
	c, err := New(&rest.Config{Host: s.URL, Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx := await.Context(t)
	if _, err := c.Pods().Get(ctx, "default", "p"); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("it ends with %v, its caller with %v", err, ctx.Err())
	}
}
