package why

import (
	"context"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// linesTold is the number of lines shown of the log of the newest failed pod, linesOfOthers of the others.
const linesTold, linesOfOthers = 5, 2

// longestTail bounds the bytes that are read for that.
const longestTail = 16 << 10

// Tails returns the last lines of the logs of the failed pods, as far as they can be read.
func (a *Asker) Tails(ctx context.Context, x *stintv1.JobExplanation) [][]string {
	tails := make([][]string, len(x.Failures))
	lines := int64(linesTold)
	for i := range x.Failures {
		tails[i] = a.tail(ctx, x, &x.Failures[i], lines)
		lines = linesOfOthers
	}
	return tails
}

// tail reads the log of the pod or, if the pod is gone, the log that stint server has kept. The last line says what the log lacks.
func (a *Asker) tail(ctx context.Context, x *stintv1.JobExplanation, of *stintv1.PodResult, lines int64) []string {
	options := corev1.PodLogOptions{Container: of.Container, TailLines: &lines, LimitBytes: ptr.To[int64](longestTail)}
	result := a.clientset.CoreV1().Pods(x.Namespace).GetLogs(of.Pod, &options).WarningHandler(rest.NoWarnings{}).Do(ctx)
	raw, err := result.Raw()
	if err != nil {
		result = a.clientset.BatchV1().RESTClient().Get().Namespace(x.Namespace).Resource("jobs").Name(x.Name).SubResource("log").
			Param("pod", of.Pod).Param("container", of.Container).Param("tailLines", strconv.FormatInt(lines, 10)).
			WarningHandler(rest.NoWarnings{}).Do(ctx)
		raw, err = result.Raw()
	}
	if err != nil {
		return nil
	}
	var tail []string
	if text := strings.TrimRight(string(raw), "\n"); text != "" {
		all := strings.Split(text, "\n")
		tail = all[max(0, len(all)-int(lines)):]
	}
	for _, w := range result.Warnings() {
		tail = append(tail, "["+w.Text+"]")
	}
	return tail
}
