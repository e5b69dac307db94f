package podlog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/stint-dev/stint/internal/cli/output"
)

// Source opens the log of a container.
type Source func(ctx context.Context, pod *corev1.Pod, opts *corev1.PodLogOptions) (io.ReadCloser, error)

const (
	// longestLine is the longest line, in bytes, that is emitted as a whole.
	longestLine = 1 << 20
	// tries is how often in a row a stream is opened without new data.
	tries      = 5
	retryDelay = 200 * time.Millisecond
	// statusLag is how long the end of a container may show in the pod's status after the end of its log.
	statusLag = 2 * time.Second
)

// read emits the log of one attempt. A stream that breaks is opened again and continued.
func (c *Collector) read(a attempt) {
	var passed int64
	var err error
	for try := 0; try < tries; try++ {
		if try > 0 && !c.pause(time.Duration(try)*retryDelay) {
			return
		}
		before, done := passed, false
		passed, done, err = c.stream(a, passed)
		if done || c.ctx.Err() != nil {
			return
		}
		// If no server listens, it may be restarting, or another run may start one: retry until the collector ends.
		if passed > before || utilnet.IsConnectionRefused(err) {
			try = 0
		}
	}
	if err != nil {
		pod := c.pod(a.pod)
		c.warn(fmt.Sprintf("pod %s: the log of container %s cannot be read: %v", pod.Name, a.container, err))
	}
}

// pause waits for d. It returns false if the collector has ended.
func (c *Collector) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// stream reads the log once, without the first bytes, which were emitted before. The bool is true at the end of the log.
func (c *Collector) stream(a attempt, passed int64) (int64, bool, error) {
	pod := c.pod(a.pod)
	current := restarts(pod, a.container)
	if current > a.number+1 {
		return passed, true, nil // two attempts ago: its log cannot be read any more
	}
	previous := current == a.number+1
	body, err := c.source(c.ctx, pod, &corev1.PodLogOptions{Container: a.container, Follow: !previous, Previous: previous})
	if apierrors.IsNotFound(err) {
		return passed, true, nil // deleted, and its log with it
	}
	if err != nil {
		return passed, false, err
	}
	defer body.Close()
	if _, err := io.CopyN(io.Discard, body, passed); err != nil && !errors.Is(err, io.EOF) {
		return passed, false, err
	}
	n, err := c.lines(a, pod, body)
	if err == nil && !c.sawEnd(a) {
		err = errCutOff
	}
	return passed + n, err == nil, err
}

// errCutOff means that the stream has ended although the container runs, as when a server stops.
var errCutOff = errors.New("the stream ended before the container")

// sawEnd reports whether the attempt has ended. The pod's status may come a little later than the end of the log.
func (c *Collector) sawEnd(a attempt) bool {
	ctx, cancel := context.WithTimeout(c.ctx, statusLag)
	defer cancel()
	ended := false
	c.wait(ctx, func() bool {
		ended = a.endedIn(c.pods[a.pod])
		return ended
	})
	return ended
}

// lines emits the lines of r.
func (c *Collector) lines(a attempt, pod *corev1.Pod, r io.Reader) (int64, error) {
	line := output.Line{Job: JobOf(pod), Pod: pod.Name, Container: a.container, Prefix: c.prefix(pod, a.container)}
	buffered := bufio.NewReaderSize(r, 32<<10)
	var passed int64
	var text []byte
	for {
		part, err := buffered.ReadSlice('\n')
		text = append(text, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(text) < longestLine {
			continue
		}
		// A broken stream is read again from the start of this line. At the end of a log the last line may have no newline.
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return passed, err
		}
		if len(text) > 0 {
			passed += int64(len(text))
			line.Text, line.Unterminated = trimNewline(text)
			c.emit(line)
			text = nil
		}
		if errors.Is(err, io.EOF) {
			return passed, nil
		}
	}
}

func trimNewline(text []byte) (line []byte, unended bool) {
	if n := len(text) - 1; text[n] == '\n' {
		return text[:n], false
	}
	return text, true
}

// prefix names the pod and the container of a line if there are several.
func (c *Collector) prefix(pod *corev1.Pod, container string) string {
	several := containerCount(pod) > 1
	switch {
	case c.opts.SinglePod && several:
		return container + ": "
	case c.opts.SinglePod:
		return ""
	case several:
		return pod.Name + "/" + container + ": "
	}
	return pod.Name + ": "
}

// JobOf returns the Job that a pod belongs to.
func JobOf(pod *corev1.Pod) output.Job {
	job := output.Job{Namespace: pod.Namespace}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		job.Name = owner.Name
	}
	return job
}
