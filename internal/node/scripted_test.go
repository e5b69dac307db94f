package node_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// scripted is a runtime without processes. A container's command says what it does:
//
//	exit 0        ends at once with this code
//	wait          runs until it is stopped (143), or until the test ends it
//	stubborn      runs until the test ends it
//	print TEXT    writes a line and ends
//	fail          cannot be started
//	hang          is being started until it is stopped
//
// It keeps to the rules of runtime.Runtime: an ID runs once, and results stay until they are forgotten.
type scripted struct {
	info   runtime.Info
	events chan runtime.Status
	// starting, unless nil, is called before a container is started.
	starting func(runtime.Container)
	// hanging are the containers that are being started until they are stopped.
	hanging map[runtime.ID]chan struct{}
	// startError is why no container can be started now; nil if they can. It is read and written under mu.
	startError error

	mu       sync.Mutex
	attempts map[runtime.ID]*runtime.Status
	// started holds every container that was ever started, in order.
	started []runtime.Container
	removed map[types.UID]int
	// graces are the grace periods that pods were stopped with.
	graces map[types.UID]time.Duration
	// roots are the bytes that containers have written, by their names.
	roots map[string]int64
	// measuring, unless nil, is called before a measurement.
	measuring func()
	// exec runs the commands of probes and hooks; nil is none.
	exec func(ctx context.Context, id runtime.ID, command string) (int32, error)
	// twice are attempts that were started while another one of their container ran.
	twice []runtime.ID
}

func newScripted() *scripted {
	return &scripted{
		info: runtime.Info{
			Name: "process", Version: "test", Isolation: "none at all", CanMount: true, CanSetHostname: true, CanSetUser: true,
			CanMeasure: true, CanExec: true,
		},
		events:   make(chan runtime.Status, 10_000),
		attempts: map[runtime.ID]*runtime.Status{},
		removed:  map[types.UID]int{},
		graces:   map[types.UID]time.Duration{},
		hanging:  map[runtime.ID]chan struct{}{},
		roots:    map[string]int64{},
	}
}

func (r *scripted) Info() runtime.Info { return r.info }

func (r *scripted) Start(_ context.Context, c runtime.Container) (runtime.Status, error) {
	if r.starting != nil {
		r.starting(c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.attempts[c.ID]; ok {
		return *s, nil
	}
	if r.startError != nil {
		return runtime.Status{}, r.startError
	}
	for id, s := range r.attempts {
		if id.PodUID == c.PodUID && id.Container == c.Container && s.State == runtime.Running {
			r.twice = append(r.twice, c.ID)
		}
	}
	r.started = append(r.started, c)
	if c.Command[0] == "hang" {
		r.hangLocked(c.ID)
	}
	s := &runtime.Status{
		ID: c.ID, PodNamespace: c.PodNamespace, PodName: c.PodName, State: runtime.Running, PID: 1, StartedAt: time.Now(),
	}
	r.attempts[c.ID] = s
	word, rest := c.Command[0], strings.Join(c.Command[1:], " ")
	switch word {
	case "exit":
		r.endLocked(c.ID, int32(rest[0]-'0'))
	case "print":
		if err := writeLog(c.LogPath, rest); err != nil {
			return *s, err
		}
		r.endLocked(c.ID, 0)
	case "hang":
		r.endLocked(c.ID, 137)
	case "fail":
		s.StartError = "no such program"
		r.endLocked(c.ID, 128)
		return *s, nil
	}
	started := *s
	started.State = runtime.Running
	return started, nil
}

// hangLocked waits until the container is stopped.
func (r *scripted) hangLocked(id runtime.ID) {
	stopped := make(chan struct{})
	r.hanging[id] = stopped
	r.mu.Unlock()
	<-stopped
	r.mu.Lock()
}

func writeLog(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	line := time.Now().UTC().Format(time.RFC3339Nano) + " stdout F " + text + "\n"
	return os.WriteFile(path, []byte(line), 0o600)
}

func (r *scripted) endLocked(id runtime.ID, code int32) {
	s := r.attempts[id]
	if s == nil || s.State == runtime.Exited {
		return
	}
	s.State, s.ExitCode, s.FinishedAt = runtime.Exited, code, time.Now()
	r.events <- *s
}

// end lets a running container end.
func (r *scripted) end(id runtime.ID, code int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endLocked(id, code)
}

// lose removes a container without an event, as when its machine was restarted.
func (r *scripted) lose(id runtime.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.attempts, id)
}

func (r *scripted) Stop(_ context.Context, id runtime.ID, grace time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.graces[id.PodUID] = grace
	code := int32(143)
	if hanging := r.hanging[id]; hanging != nil {
		close(hanging)
		delete(r.hanging, id)
		return nil
	}
	for _, c := range r.started {
		if c.ID != id {
			continue
		}
		switch c.Command[0] {
		case "stubborn":
			return nil
		case "tidy":
			code = 0
		}
	}
	r.endLocked(id, code)
	return nil
}

func (r *scripted) List(context.Context) ([]runtime.Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []runtime.Status{}
	for _, s := range r.attempts {
		list = append(list, *s)
	}
	return list, nil
}

func (r *scripted) Events() <-chan runtime.Status { return r.events }

func (r *scripted) Forget(_ context.Context, ids ...runtime.ID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if s := r.attempts[id]; s != nil && s.State == runtime.Exited {
			delete(r.attempts, id)
		}
	}
	return nil
}

func (r *scripted) RemoveVolume(context.Context, string) error { return nil }

func (r *scripted) Dial(context.Context, types.UID, netip.AddrPort) (net.Conn, error) {
	return nil, errors.ErrUnsupported
}

func (r *scripted) SetServices(context.Context, runtime.Services) ([]uint16, error) { return nil, nil }

func (r *scripted) ShareVolume(context.Context, string, beneath.Share) error { return nil }

func (r *scripted) RemovePod(_ context.Context, uid types.UID, _ string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removed[uid]++
	for id := range r.attempts {
		if id.PodUID == uid {
			r.endLocked(id, 137)
		}
	}
	return nil
}

func (r *scripted) Measure(_ context.Context, ids []runtime.ID, dirs []string) (runtime.Usage, error) {
	r.mu.Lock()
	measuring := r.measuring
	r.mu.Unlock()
	if measuring != nil {
		measuring()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	usage := runtime.Usage{Dirs: make([]int64, len(dirs))}
	for _, id := range ids {
		usage.Roots = append(usage.Roots, r.roots[id.Container])
	}
	return usage, nil
}

// Exec runs a command as the test says.
func (r *scripted) Exec(ctx context.Context, id runtime.ID, command runtime.Command, _ runtime.Streams) (int32, error) {
	r.mu.Lock()
	exec := r.exec
	r.mu.Unlock()
	if exec == nil {
		return 0, errors.New("a scripted container runs no commands")
	}
	return exec(ctx, id, strings.Join(command.Args, " "))
}

func (r *scripted) Attach(context.Context, runtime.ID, runtime.Streams) error {
	return errors.New("a scripted container has no streams")
}

// failStarts has starts fail with err, or no more if that is nil.
func (r *scripted) failStarts(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.startError = err
}

// holdMeasurements has the function called before each measurement; nil is none.
func (r *scripted) holdMeasurements(by func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.measuring = by
}

// writes sets how many bytes all containers of that name have written.
func (r *scripted) writes(container string, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roots[container] = bytes
}

func (r *scripted) Close() error { return nil }

// startedOf returns the attempts at a pod's containers, in order.
func (r *scripted) startedOf(uid types.UID) []runtime.Container {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.started), func(c runtime.Container) bool { return c.PodUID != uid })
}

// stopped returns the grace period that a pod was stopped with; 0 if it was not stopped.
func (r *scripted) stopped(uid types.UID) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.graces[uid]
}

// held returns how many attempts the runtime has not forgotten.
func (r *scripted) held() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.attempts)
}

// check fails the test if a container ever ran twice at once.
func (r *scripted) check(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.twice) > 0 {
		t.Errorf("second attempts beside a running one: %v", r.twice)
	}
}

// ResourceUsage says that what runs has used a second of CPU, and uses a mebibyte.
func (r *scripted) ResourceUsage(_ context.Context, ids []runtime.ID) ([]runtime.ResourceUsage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	usage := make([]runtime.ResourceUsage, len(ids))
	for i, id := range ids {
		if s := r.attempts[id]; s != nil && s.State == runtime.Running {
			usage[i] = runtime.ResourceUsage{Running: true, CPU: time.Second, Memory: 1 << 20}
		}
	}
	return usage, nil
}
