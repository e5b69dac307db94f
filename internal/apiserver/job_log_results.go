package apiserver

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
)

// resultsOfPods tells what came of the pods that are there.
func (r *jobLogREST) resultsOfPods(ctx context.Context, job *batchv1.Job) (*stintv1.JobResults, error) {
	var pods []*corev1.Pod
	err := r.server.client.Pods().List(ctx, job.Namespace, labels.Everything(), func(p *corev1.Pod) { pods = append(pods, p) })
	if err != nil {
		return nil, err
	}
	return results.Merge(job, nil, pods), nil
}
