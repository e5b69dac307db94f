package podlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/test/wrappers"
)

// pod makes a pod in a phase with one container that has started restarts+1 times.
func pod(name string, phase corev1.PodPhase, restarts int32) *corev1.Pod {
	job := wrappers.MakeJob("job").Namespace("default").UID("job").Containers("main").Obj()
	p := wrappers.MakePodOf(job, name).UID(types.UID(name)).Phase(phase).Obj()
	status := corev1.ContainerStatus{Name: "main", RestartCount: restarts}
	if phase == corev1.PodRunning {
		status.State.Running = &corev1.ContainerStateRunning{}
	}
	if phase == corev1.PodFailed || phase == corev1.PodSucceeded {
		status.State.Terminated = &corev1.ContainerStateTerminated{}
	}
	if restarts > 0 {
		status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{status}
	return p
}

// lines collects what a Collector emits.
type lines struct {
	mu      sync.Mutex
	got     []string
	trouble []string
}

func (l *lines) emit(line output.Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := line.Prefix + string(line.Text)
	if line.Unterminated {
		text += "…"
	}
	l.got = append(l.got, text)
}

func (l *lines) complain(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = append(l.trouble, text)
}

// broken is a reader that fails after its text.
func broken(text string) io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(text), failing{}))
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection lost") }

func whole(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }

func TestStreamThatBreaksIsTakenUpWhereItBroke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lines
		opened := 0
		source := func(context.Context, *corev1.Pod, *corev1.PodLogOptions) (io.ReadCloser, error) {
			opened++
			switch opened {
			case 1:
				return broken("one\ntw"), nil
			case 2:
				return nil, errors.New("not now")
			}
			return whole("one\ntwo\nthree"), nil
		}
		c := New(t.Context(), source, Options{SinglePod: true}, l.emit, l.complain)
		c.Observe(pod("p", corev1.PodSucceeded, 0))
		c.Drain(t.Context(), "job")
		if diff := cmp.Diff([]string{"one", "two", "three…"}, l.got); diff != "" {
			t.Error(diff)
		}
		if len(l.trouble) > 0 {
			t.Error(l.trouble)
		}
	})
}

func TestServerThatIsAwayForLongIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lines
		opened := 0
		source := func(context.Context, *corev1.Pod, *corev1.PodLogOptions) (io.ReadCloser, error) {
			opened++
			switch {
			case opened == 1:
				return broken("one\n"), nil
			case opened <= 10*tries:
				return nil, &url.Error{Op: "Get", Err: syscall.ECONNREFUSED}
			}
			return whole("one\ntwo\n"), nil
		}
		c := New(t.Context(), source, Options{SinglePod: true}, l.emit, l.complain)
		c.Observe(pod("p", corev1.PodSucceeded, 0))
		c.Drain(t.Context(), "job")
		if diff := cmp.Diff([]string{"one", "two"}, l.got); diff != "" || len(l.trouble) > 0 {
			t.Errorf("trouble %v, lines (-want +got):\n%s", l.trouble, diff)
		}
	})
}

func TestStreamThatEndsBeforeItsContainerIsTakenUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Collector
		streams := 0
		var l lines
		c = New(t.Context(), func(context.Context, *corev1.Pod, *corev1.PodLogOptions) (io.ReadCloser, error) {
			streams++
			if streams == 1 {
				return whole("a\n"), nil // its server has stopped
			}
			c.Observe(pod("p", corev1.PodSucceeded, 0))
			return whole("a\nz\n"), nil
		}, Options{SinglePod: true}, l.emit, l.complain)
		c.Observe(pod("p", corev1.PodRunning, 0))
		c.DrainAll(t.Context())
		if diff := cmp.Diff([]string{"a", "z"}, l.got); diff != "" || streams != 2 || len(l.trouble) > 0 {
			t.Errorf("%d streams, trouble %v, lines (-want +got):\n%s", streams, l.trouble, diff)
		}
	})
}

func TestLogThatCannotBeReadIsMentionedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lines
		source := func(context.Context, *corev1.Pod, *corev1.PodLogOptions) (io.ReadCloser, error) {
			return nil, errors.New("no such disk")
		}
		c := New(t.Context(), source, Options{}, l.emit, l.complain)
		c.Observe(pod("p", corev1.PodFailed, 0))
		c.Observe(pod("p", corev1.PodFailed, 0))
		c.DrainAll(t.Context())
		if diff := cmp.Diff([]string{"pod p: the log of container main cannot be read: no such disk"}, l.trouble); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEveryAttemptIsReadOnceAndInOrder(t *testing.T) {
	synctest.Test(t, testEveryAttemptIsReadOnceAndInOrder)
}

func testEveryAttemptIsReadOnceAndInOrder(t *testing.T) {
	var l lines
	source := func(_ context.Context, p *corev1.Pod, o *corev1.PodLogOptions) (io.ReadCloser, error) {
		number := p.Status.ContainerStatuses[0].RestartCount
		if o.Previous {
			number--
		}
		return whole(fmt.Sprintf("attempt %d\n", number)), nil
	}
	c := New(t.Context(), source, Options{SinglePod: true}, l.emit, l.complain)
	for _, seen := range []*corev1.Pod{
		pod("p", corev1.PodPending, 0), // nothing to read yet
		pod("p", corev1.PodRunning, 1), // the first attempt had ended before it was observed
		pod("p", corev1.PodRunning, 1),
		pod("p", corev1.PodSucceeded, 2),
	} {
		c.Observe(seen)
		c.DrainAll(t.Context())
	}
	if diff := cmp.Diff([]string{"attempt 0", "attempt 1", "attempt 2"}, l.got); diff != "" {
		t.Error(diff)
	}
}

func TestStreamsAreBoundedAndFailuresComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		open, most := 0, 0
		gate := make(chan struct{})
		source := func(_ context.Context, p *corev1.Pod, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
			mu.Lock()
			order = append(order, p.Name)
			open++
			most = max(most, open)
			mu.Unlock()
			<-gate
			mu.Lock()
			open--
			mu.Unlock()
			return whole("x\n"), nil
		}
		var l lines
		c := New(t.Context(), source, Options{}, l.emit, l.complain)
		for i := range 500 {
			c.Observe(pod(fmt.Sprintf("pod-%d", i), corev1.PodSucceeded, 0))
		}
		c.Observe(pod("late-failure", corev1.PodFailed, 0))
		c.Observe(pod("pod-400", corev1.PodFailed, 0))
		synctest.Wait()
		if most != maxStreams {
			t.Errorf("%d streams at a time, want %d", most, maxStreams)
		}
		gate <- struct{}{}
		gate <- struct{}{}
		synctest.Wait()
		got := map[string]bool{order[maxStreams]: true, order[maxStreams+1]: true}
		if diff := cmp.Diff(map[string]bool{"late-failure": true, "pod-400": true}, got); diff != "" {
			t.Error(diff)
		}
		close(gate)
		c.DrainAll(t.Context())
		if len(l.got) != 501 {
			t.Errorf("%d lines of 501 pods", len(l.got))
		}
	})
}

func TestFailedOnly(t *testing.T) {
	var l lines
	source := func(_ context.Context, p *corev1.Pod, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
		return whole("why\n"), nil
	}
	c := New(t.Context(), source, Options{FailedOnly: true}, l.emit, l.complain)
	c.Observe(pod("good", corev1.PodSucceeded, 0))
	c.Observe(pod("bad", corev1.PodFailed, 0))
	c.DrainAll(t.Context())
	if diff := cmp.Diff([]string{"bad: why"}, l.got); diff != "" {
		t.Error(diff)
	}
}

func TestDrainEndsWithItsContext(t *testing.T) {
	var l lines
	source := func(ctx context.Context, _ *corev1.Pod, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c := New(t.Context(), source, Options{}, l.emit, l.complain)
	c.Observe(pod("p", corev1.PodRunning, 0))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.DrainAll(ctx)
	if ctx.Err() == nil || len(l.got) > 0 {
		t.Errorf("lines %v", l.got)
	}
}
