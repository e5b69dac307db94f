package job_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/kube"
)

// The API server of a cluster accepts any annotation.
func invalidAnnotationsHaveOneEvent(t *testing.T, c *kube.Cluster) {
	e := onCluster(t, c, always(succeed))
	e.create(annotated(newJob("annotated", pods(20, 2)), core.BackoffSeconds, "soon"))
	clients, err := remote.New(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	recorder := record.NewFakeRecorder(1000)
	jc := job.New(clients, recorder, quick())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	clients.Start(ctx)
	go func() { ended <- jc.Run(ctx) }()
	e.untilFinished("annotated")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	clients.Wait()
	close(recorder.Events)
	var invalid []string
	for event := range recorder.Events {
		if strings.Contains(event, "InvalidAnnotation") {
			invalid = append(invalid, event)
		}
	}
	want := `Warning InvalidAnnotation metadata.annotations[stint.dev/backoff-seconds]: Invalid value: "soon": must be a whole number from 0 to 2147483647`
	if len(invalid) != 1 || invalid[0] != want {
		t.Errorf("events %q, want one: %q", invalid, want)
	}
}
