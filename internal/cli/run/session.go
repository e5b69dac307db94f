package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/podlog"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/node/podlogs"
)

// fieldManager owns the fields that a run applies.
const fieldManager = "stint"

// session is one run against one server.
type session struct {
	opts   Options
	target *target.Target
	caller target.Caller
	out    output.Output
	// joined: the Job was there before, and goes on when the user leaves.
	joined bool
	// moved: the server is not the one that the run began with.
	moved bool
	warn  *warnings
	// podless are the pods of a namespace before this run had any there.
	podless map[string]*corev1.PodList
	// clients change when the run has to go on with another server.
	clients atomic.Pointer[clients]

	logs *podlog.Collector
	// stored reads the logs of a server on this machine from its files; nil for other servers.
	stored *podlogs.Store

	mu sync.Mutex
	// jobs are those of this run.
	jobs map[types.UID]*tracked
	// failedPods were told of already.
	failedPods map[types.UID]bool
	// asking: the server is being asked when a Job gets its next pod, as it was at askedAt.
	asking  bool
	askedAt time.Time
	// pulls are those that pods of this run wait for, by image; the nodes are being asked about them, as they were at askedPullsAt.
	pulls        map[string]*pull
	askingPulls  bool
	askedPullsAt time.Time
	// lostAt is when the user was last told that the server does not answer.
	lostAt time.Time
	// changed wakes the loop after jobs has changed.
	changed chan struct{}
	// gone names a server that no longer listens.
	gone chan *target.Target
	halt halt
	// slack is how long what is deleted may take to go, beyond the grace period of pods, while nothing else goes.
	slack time.Duration
	// patience is how long it waits for what may be late, or may never come: the last logs, pods and events of a Job.
	patience time.Duration
	// wentAt is when something of this run was last seen to go.
	wentAt time.Time
	// concluding bounds how many ended Jobs are looked into at a time.
	concluding chan struct{}
	conclusion sync.WaitGroup
}

// defaultPatience is far beyond what a busy machine takes.
const defaultPatience = 30 * time.Second

func newSession(o Options, t *target.Target, out output.Output) (*session, error) {
	s := &session{opts: o, caller: t.Caller, out: out, warn: &warnings{note: out.Note}, jobs: map[types.UID]*tracked{},
		failedPods: map[types.UID]bool{}, pulls: map[string]*pull{}, changed: make(chan struct{}, 1), gone: make(chan *target.Target, 1),
		concluding: make(chan struct{}, 16), slack: deletionSlack, patience: defaultPatience}
	if t.Kind != target.Cluster {
		s.stored = podlogs.Stored(o.Target.DataDir)
	}
	return s, s.use(t)
}

func (s *session) run(ctx context.Context, objects []*manifest.Object) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := manifest.InNamespace(objects, s.target.Namespace, s.opts.Target.Namespace != "", s.namespaced)
	if err != nil {
		return err
	}
	if err := refuseCycles(objects); err != nil {
		return err
	}
	setup, interrupted := s.untilInterrupt(ctx)
	plans, err := s.check(setup, objects)
	if err != nil {
		return orInterrupted(interrupted(), err)
	}
	if s.opts.RuntimeAsked && s.target.Kind != target.Embedded {
		return InputError{fmt.Errorf("--runtime is for a server that stint run starts itself, and this run is %s: write runtimeClassName: %s into the pod template",
			s.target.Place(), s.opts.RuntimeClass)}
	}
	s.out.Note("runs " + s.target.Place())
	if s.target.Kind != target.Cluster {
		class := s.opts.RuntimeClass
		if s.target.Kind != target.Embedded {
			class = "" // that server has its own
		}
		processes := asProcesses(jobsOf(objects), class)
		s.noteImages(processes)
		s.noteRelative(processes)
	}
	s.collectLogs(ctx, jobsOf(objects))
	err = s.createSupport(setup, objects)
	if err == nil {
		err = s.createJobs(setup, plans)
	}
	if err == nil {
		s.tellOrder(setup)
	}
	if interrupted() {
		return s.follow(ctx, true)
	}
	if err != nil {
		s.giveUp(ctx)
		return err
	}
	return s.follow(ctx, false)
}

// collectLogs begins to show the logs of the Jobs' pods.
func (s *session) collectLogs(ctx context.Context, jobs []*batchv1.Job) {
	if s.opts.Logs == LogsNone {
		return
	}
	s.logs = podlog.New(ctx, s.openLog, podlog.Options{FailedOnly: s.opts.Logs == LogsFailed, SinglePod: singlePod(jobs)},
		s.out.Log, s.out.Note)
}

// untilInterrupt returns a context that Ctrl-C ends, and a function that stops listening and reports whether it has.
func (s *session) untilInterrupt(ctx context.Context) (context.Context, func() bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		select {
		case <-s.opts.Interrupts:
			cancel(ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() bool {
		cancel(nil)
		<-listening
		return errors.Is(context.Cause(ctx), ErrInterrupted)
	}
}

func orInterrupted(interrupted bool, err error) error {
	if interrupted {
		return ErrInterrupted
	}
	return err
}

// openLog reads a log through the server. A pod that is gone has none there, but a server on this machine keeps the file
// for a moment: a pod may end and go faster than anybody hears of it.
func (s *session) openLog(ctx context.Context, pod *corev1.Pod, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	body, err := s.core().Pods(pod.Namespace).GetLogs(pod.Name, opts).Stream(ctx)
	if apierrors.IsNotFound(err) && s.stored != nil {
		if stored, failed := s.stored.PodLogs(ctx, pod, opts); failed == nil {
			return stored, nil
		}
	}
	return body, err
}

// namespaced answers for Jobs without asking the server: most runs need no discovery.
func (s *session) namespaced(gvk schema.GroupVersionKind) (bool, error) {
	if gvk.Group == "batch" {
		return true, nil
	}
	mapping, err := s.clients.Load().mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, err
	}
	return mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// noteImages says once that images are names only.
func (s *session) noteImages(jobs []*batchv1.Job) {
	images := imagesOf(jobs)
	switch n := len(images); {
	case n == 1:
		s.out.Note("image " + images[0] + " is not pulled: commands run on this machine")
	case n > 3:
		images = append(images[:3:3], fmt.Sprintf("%d more", n-3))
		fallthrough
	case n > 1:
		s.out.Note("images " + strings.Join(images, ", ") + " are not pulled: commands run on this machine")
	}
}

// warnings passes on each warning of the server once.
type warnings struct {
	note func(string)
	mu   sync.Mutex
	seen map[string]bool
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code != 299 || text == "" || w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.note("warning: " + text)
}
