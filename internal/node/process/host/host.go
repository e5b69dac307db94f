package host

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/stint-dev/stint/internal/node/process/crilog"
	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/process/sandbox"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Config is what a control plane passes to the host that it starts.
type Config struct {
	// Dir is the data directory whose containers the host runs.
	Dir string `json:"dir"`
	// RunDir is where its socket and journal are.
	RunDir string `json:"runDir"`
	// StartTimeout is how long the control plane that starts the host waits for it.
	StartTimeout time.Duration `json:"startTimeout"`
	// IdleExit is how long the host stays when it has neither containers nor a control plane.
	IdleExit time.Duration `json:"idleExit"`

	// PodMaxPIDs bounds the processes of a container; 0 or less is without limit.
	PodMaxPIDs int64 `json:"podMaxPIDs,omitempty"`
	// KeepSessionKeyring leaves the host, and containers of its user without image, with the session keyring of the control plane.
	KeepSessionKeyring bool `json:"keepSessionKeyring,omitempty"`

	WhyNoMount   string `json:"whyNoMount,omitempty"`
	NoCgroups    bool   `json:"noCgroups,omitempty"`
	OwnScope     bool   `json:"ownScope,omitempty"`
	PIDNamespace bool   `json:"pidNamespace,omitempty"`

	// Outside is the user that the host, which is root in its user namespace, is outside of it; nil without a user
	// namespace. IDs is how many users the namespace has; WhyOneID says why it has only one.
	Outside  *runtime.User `json:"outside,omitempty"`
	IDs      uint32        `json:"ids,omitempty"`
	WhyOneID string        `json:"whyOneID,omitempty"`
	// Relay makes the process start the host in a user namespace instead of being the host itself.
	Relay bool `json:"relay,omitempty"`
}

// rootsName is the directory in the data directory for what containers write to their root file systems.
const rootsName = "roots"

// uid is the user id of the host outside of any user namespace.
func (c Config) uid() int {
	if c.Outside != nil {
		return int(c.Outside.UID)
	}
	return os.Geteuid()
}

// sandboxName is the name of the run directory, so it is unique to the data directory.
func (c Config) sandboxName() string { return filepath.Base(c.RunDir) }

// Host runs containers.
type Host struct {
	config  Config
	owner   *rundir.Owner
	sandbox *sandbox.Sandbox
	journal *journal

	mu       sync.Mutex
	entries  map[runtime.ID]*entry
	live     int
	sessions map[*session]bool
	idle     *time.Timer
	// hadControlPlane is whether a control plane has ever connected.
	hadControlPlane bool
	closing         bool
	done            chan struct{}
}

// open makes a Host from the journal that a former host has left in the run directory.
func open(config Config, owner *rundir.Owner) (*Host, error) {
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(config.RunDir)
	if err != nil {
		return nil, err
	}
	past, err := readJournal(dir)
	if err != nil {
		return nil, err
	}
	h := &Host{
		config:   config,
		owner:    owner,
		entries:  map[runtime.ID]*entry{},
		sessions: map[*session]bool{},
		done:     make(chan struct{}),
	}
	ended := h.inherit(past, boot)
	h.sandbox, err = sandbox.Open(sandbox.Config{
		StateDir:     config.RunDir,
		RootsDir:     filepath.Join(config.Dir, rootsName),
		Name:         config.sandboxName(),
		WhyNoMount:   config.WhyNoMount,
		NoCgroups:    config.NoCgroups,
		OwnScope:     config.OwnScope,
		PIDNamespace: config.PIDNamespace,
		MaxPIDs:      config.PodMaxPIDs,

		KeepSessionKeyring: config.KeepSessionKeyring,
		Outside:            config.Outside,
		IDs:                config.IDs,
		WhyOneID:           config.WhyOneID,
	})
	if err != nil {
		return nil, err
	}
	h.journal, err = createJournal(dir, header{BootID: boot, Cgroups: h.sandbox.Cgroups()}, ended)
	if err != nil {
		h.sandbox.Close()
		return nil, err
	}
	return h, nil
}

// inherit kills what a former host left running, and returns how each attempt ended that was not forgotten.
func (h *Host) inherit(past history, boot string) []runtime.Status {
	var ended []runtime.Status
	var lost []runtime.ID
	for id, s := range past.attempts {
		if s.State == runtime.Running {
			lost = append(lost, id)
			s.State, s.PID, s.Lost = runtime.Exited, 0, true
			s.ExitCode, s.FinishedAt = 137, time.Now()
		}
		ended = append(ended, s)
		h.entries[id] = endedEntry(s)
	}
	if past.header.BootID == boot {
		sandbox.Sweep(h.config.sandboxName(), past.header.Cgroups, lost)
	}
	return ended
}

// start starts c, or returns the entry that it has already. The caller supervises the process, if there is one.
func (h *Host) start(c *runtime.Container) (*entry, *sandbox.Process, error) {
	e, isNew, err := h.claim(c)
	if err != nil {
		return nil, nil, err
	}
	if isNew {
		return e, h.launch(e, c), nil
	}
	<-e.decided
	return e, nil, nil
}

func (h *Host) claim(c *runtime.Container) (e *entry, isNew bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := c.ID.Check(); err != nil {
		return nil, false, err
	}
	if e, ok := h.entries[c.ID]; ok {
		return e, false, nil
	}
	if h.closing {
		return nil, false, fmt.Errorf("the host process is ending")
	}
	status := runtime.Status{
		ID: c.ID, PodNamespace: c.PodNamespace, PodName: c.PodName, State: runtime.Running, StartedAt: time.Now(),
	}
	if c.Root != nil {
		status.ImageID = c.Root.ImageID
	}
	e = newEntry(status)
	h.entries[c.ID] = e
	h.live++
	return e, true, nil
}

// launch attempts to start c, and returns nil if that failed. The attempt is in the journal before the process exists, so that
// it never runs twice.
func (h *Host) launch(e *entry, c *runtime.Container) (p *sandbox.Process) {
	defer close(e.decided)
	err := h.journal.started(e.status)
	var target *sandbox.Process
	if err == nil {
		target, err = h.target(c)
	}
	if err == nil {
		p, err = h.sandbox.Start(e.starting, c, target)
	}
	var fault *sandbox.StartError
	isFault := errors.As(err, &fault)
	switch {
	case err == nil:
		e.run(p)
	case isFault:
		s := e.current()
		s.State, s.ExitCode, s.StartError, s.FinishedAt = runtime.Exited, 128, fault.Reason, time.Now()
		h.finish(e, s)
	default:
		e.mu.Lock()
		e.failure = err
		e.mu.Unlock()
		_ = h.journal.forget([]runtime.ID{c.ID})
		h.mu.Lock()
		delete(h.entries, c.ID)
		h.mu.Unlock()
		h.finish(e, e.status)
	}
	return p
}

// target returns the container whose process ids c is to share; nil if it shares none.
func (h *Host) target(c *runtime.Container) (*sandbox.Process, error) {
	if c.Root == nil || c.Root.PIDsOf == nil {
		return nil, nil
	}
	id := *c.Root.PIDsOf
	if id.PodUID != c.PodUID {
		return nil, &sandbox.StartError{Reason: fmt.Sprintf("container %q, whose process ids it is to share, is of another pod", id.Container)}
	}
	_, p := h.entryOf(id)
	if p == nil {
		return nil, fmt.Errorf("container %q, whose process ids it is to share, does not run", id.Container)
	}
	return p, nil
}

// finish records the end of an attempt.
func (h *Host) finish(e *entry, s runtime.Status) {
	if e.failure == nil {
		if err := h.journal.ended(s); err != nil {
			slog.Error("The end of a container could not be written to the journal", "container", s.ID, "err", err)
		}
	}
	e.finish(s)
	close(e.ended)
	h.mu.Lock()
	h.live--
	h.updateIdleTimer()
	h.mu.Unlock()
}

// drainGrace is how long a pipe is read after the container's last process has ended: a process outside of the container
// may hold it open. What is in the pipe when the time is over is read all the same, so no output of the container is lost.
const drainGrace = 200 * time.Millisecond

var streamNames = []string{"stdout", "stderr"}

// supervise follows a container to its end.
func (h *Host) supervise(e *entry, p *sandbox.Process, logPath string) {
	log := crilog.NewWriter(logPath, crilog.DefaultLimits).OnLoss(func(lost runtime.LostOutput) { h.outputLost(e, lost) })
	var streams sync.WaitGroup
	for i, pipe := range p.Outputs() {
		stream := crilog.NewStream(log, streamNames[i]).Also(func(data []byte) { e.listeners.write(i, data) })
		streams.Go(func() { _ = stream.Copy(pipe) })
	}
	err := p.Wait()
	finished := time.Now()
	clean := p.EndTree()
	for _, pipe := range p.Outputs() {
		_ = pipe.SetReadDeadline(time.Now().Add(drainGrace))
	}
	streams.Wait()
	e.listeners.end()
	lost := log.Close()
	if err != nil {
		slog.Error("The exit code of a container is lost", "container", e.status.ID, "err", err)
	}
	// From here on Stop must not signal anything: the cgroup may serve the next container.
	e.mu.Lock()
	e.process = nil
	s := e.status
	e.mu.Unlock()
	exit := p.Release(clean)
	s.State, s.FinishedAt, s.PID = runtime.Exited, finished, 0
	s.ExitCode, s.Signal, s.OOMKilled = exit.Code, exit.Signal, exit.OOMKilled
	s.TerminationMessage, s.LostOutput = exit.Message, lost
	h.finish(e, s)
	h.sendEvent(s)
}

// outputLost tells the control planes that a log begins to lack output. The next one learns of it from List, and the next host
// from the journal.
func (h *Host) outputLost(e *entry, lost runtime.LostOutput) {
	e.mu.Lock()
	e.status.LostOutput = &lost
	s := e.status
	e.mu.Unlock()
	slog.Error("Output of a container is lost", "container", s.ID, "err", lost.Reason)
	if err := h.journal.started(s); err != nil {
		slog.Error("The loss of a container's output could not be written to the journal", "container", s.ID, "err", err)
	}
	h.sendEvent(s)
}
