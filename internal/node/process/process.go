// Package process runs containers as process trees on this machine.
//
//	control plane (stint server, stint run)              host process (stint, started by Start)
//	┌──────────────────────────────┐    unix socket     ┌──────────────────────────────────┐
//	│ Runtime: finds or starts the │ ◄────────────────► │ host: attempts and their journal │
//	│ host, sends requests         │                    │ sandbox: threads, cgroups, views │
//	└──────────────────────────────┘                    │ crilog: what containers print    │
//	                                                    └───────┬──────────────────────────┘
//	                                                            └── containers
//
// The host process is the same program in its own session: the control plane can be killed, upgraded and started
// again while containers run. It ends by itself when it has no container and no control plane.
//
// A container without a Root runs a program of this machine and sees its file system. One with a Root has the files of an
// image, which was pulled and unpacked before (internal/image).
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// DefaultIdleExit is long enough for a server that is restarted to find its host process still there.
const DefaultIdleExit = 10 * time.Second

// DefaultPodMaxPIDs is far more than a Job needs, and far less than a machine has.
const DefaultPodMaxPIDs = 4096

// DefaultStartTimeout is far longer than starting a host process takes on a busy machine.
const DefaultStartTimeout = 2 * time.Minute

// Config says which host process to connect to and how to start one.
type Config struct {
	// Dir is the data directory; it has one host process.
	Dir string
	// Executable is the program to start the host from; its main function calls HostMain first. Empty is this one.
	Executable string
	// StartTimeout is how long to wait for a host process to answer, and after how long calls fail while a host that has
	// hung up does not end. It is DefaultStartTimeout if zero.
	StartTimeout time.Duration
	// IdleExit is how long a host process stays when it has neither containers nor a control plane. It is DefaultIdleExit
	// if zero.
	IdleExit time.Duration
	// PodMaxPIDs bounds the processes and threads of a container, where cgroups allow. It is DefaultPodMaxPIDs if zero;
	// less is without limit. A host process that runs already keeps its limit.
	PodMaxPIDs int64
	// KeepSessionKeyring leaves containers of this process's user without image with the session keyring of this process.
	KeepSessionKeyring bool
	// NoCgroups and NoNamespaces keep the host from using cgroups and namespaces.
	NoCgroups, NoNamespaces bool
}

// Runtime is a connection to a host process. It starts another one when the host process dies.
type Runtime struct {
	config Config
	link   *links
	events *eventQueue
	stop   context.CancelFunc
	done   chan struct{}
	// services are those that were set last; nil before.
	services atomic.Pointer[runtime.Services]
}

var _ runtime.Runtime = (*Runtime)(nil)

// Start connects to the host process of config.Dir, after starting one if there is none.
func Start(ctx context.Context, config Config) (*Runtime, error) {
	config, err := complete(config)
	if err != nil {
		return nil, err
	}
	first, err := establish(ctx, newLauncher(config))
	if err != nil {
		return nil, fmt.Errorf("container host process: %w", err)
	}
	lifetime, stop := context.WithCancel(context.Background())
	r := &Runtime{config: config, link: newLinks(), events: newEventQueue(), stop: stop, done: make(chan struct{})}
	r.attach(lifetime, first)
	go r.keepConnected(lifetime, first)
	return r, nil
}

func complete(config Config) (Config, error) {
	if config.Dir == "" {
		return config, errors.New("the process runtime needs a data directory")
	}
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		return config, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return config, err
	}
	// Without symbolic links, so that a directory has one host whichever of its paths is given.
	if config.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return config, err
	}
	if config.Executable == "" {
		if config.Executable, err = os.Executable(); err != nil {
			return config, err
		}
	}
	config.StartTimeout = cmp.Or(config.StartTimeout, DefaultStartTimeout)
	config.PodMaxPIDs = cmp.Or(config.PodMaxPIDs, DefaultPodMaxPIDs)
	config.IdleExit = cmp.Or(config.IdleExit, DefaultIdleExit)
	return config, nil
}

// Info is what the host process found on this machine.
func (r *Runtime) Info() runtime.Info { return r.link.info() }

// Start implements runtime.Runtime.
func (r *Runtime) Start(ctx context.Context, c runtime.Container) (runtime.Status, error) {
	if c.Root != nil && !r.Info().CanRunImages {
		// The host is not asked: one of an older version would run the command on the machine's own file system.
		return runtime.Status{}, errors.New("images cannot be run here: " + r.Info().WhyNoImages)
	}
	if c.Network != nil && !r.Info().PodRange.IsValid() {
		return runtime.Status{}, errors.New("pods cannot have a network here: " + cmp.Or(r.Info().WhyNoNetworks, "the container host process is of an older version"))
	}
	reply, err := r.call(ctx, wire.Request{Op: wire.OpStart, Container: &c})
	if err != nil {
		return runtime.Status{}, fmt.Errorf("start container %q of pod %s/%s: %w",
			c.Container, c.PodNamespace, c.PodName, err)
	}
	return reply.Statuses[0], nil
}

// Stop implements runtime.Runtime.
func (r *Runtime) Stop(ctx context.Context, id runtime.ID, grace time.Duration) error {
	_, err := r.call(ctx, wire.Request{Op: wire.OpStop, IDs: []runtime.ID{id}, Grace: grace})
	return err
}

// List implements runtime.Runtime.
func (r *Runtime) List(ctx context.Context) ([]runtime.Status, error) {
	reply, err := r.call(ctx, wire.Request{Op: wire.OpList})
	return reply.Statuses, err
}

// Forget implements runtime.Runtime.
func (r *Runtime) Forget(ctx context.Context, ids ...runtime.ID) error {
	_, err := r.call(ctx, wire.Request{Op: wire.OpForget, IDs: ids})
	return err
}

// RemovePod implements runtime.Runtime.
func (r *Runtime) RemovePod(ctx context.Context, uid types.UID, dir string) error {
	_, err := r.call(ctx, wire.Request{Op: wire.OpRemovePod, PodUID: uid, Dir: dir})
	return err
}

// RemoveVolume implements runtime.Runtime.
func (r *Runtime) RemoveVolume(ctx context.Context, dir string) error {
	_, err := r.call(ctx, wire.Request{Op: wire.OpRemoveVolume, Dir: dir})
	return err
}

// ShareVolume implements runtime.Runtime.
func (r *Runtime) ShareVolume(ctx context.Context, dir string, share beneath.Share) error {
	op := wire.OpShare
	if share.Write {
		op = wire.OpShareToWrite
	}
	_, err := r.call(ctx, wire.Request{Op: op, Dir: dir, Group: share.Group, OnMismatch: share.OnMismatch})
	return err
}

// SetServices implements runtime.Runtime.
func (r *Runtime) SetServices(ctx context.Context, s runtime.Services) (taken []uint16, err error) {
	r.services.Store(&s)
	reply, err := r.call(ctx, wire.Request{Op: wire.OpSetServices, Services: &s})
	return reply.TakenPorts, err
}

// Measure implements runtime.Runtime.
func (r *Runtime) Measure(ctx context.Context, ids []runtime.ID, dirs []string) (runtime.Usage, error) {
	reply, err := r.call(ctx, wire.Request{Op: wire.OpMeasure, IDs: ids, Dirs: dirs})
	return reply.Usage, err
}

// ResourceUsage implements runtime.Runtime.
func (r *Runtime) ResourceUsage(ctx context.Context, ids []runtime.ID) ([]runtime.ResourceUsage, error) {
	reply, err := r.call(ctx, wire.Request{Op: wire.OpResourceUsage, IDs: ids})
	return reply.ResourceUsage, err
}

// Events implements runtime.Runtime.
func (r *Runtime) Events() <-chan runtime.Status { return r.events.out }

// Close implements runtime.Runtime.
func (r *Runtime) Close() error {
	r.stop()
	<-r.done
	return nil
}

// call sends a request to the host. When the host dies it sends the request to the next one: all operations are idempotent.
func (r *Runtime) call(ctx context.Context, request wire.Request) (wire.Reply, error) {
	for {
		l, err := r.link.wait(ctx)
		if err != nil {
			return wire.Reply{}, err
		}
		reply, err := l.ask(ctx, request)
		if !errors.Is(err, errDisconnected) {
			return reply, err
		}
	}
}

// attach makes l the link that calls go through. A host that replaces another one is told the Services before it starts pods.
func (r *Runtime) attach(ctx context.Context, l *link) {
	go l.read(r.events.add)
	if s := r.services.Load(); s != nil {
		// It only keeps them, and fails if it has hung up again.
		_, _ = l.ask(ctx, wire.Request{Op: wire.OpSetServices, Services: s})
	}
	r.link.set(l)
}

// reconnectPause is how long to wait after a host process could not be started.
const reconnectPause = time.Second

// keepConnected replaces the host process whenever it dies, until the runtime is closed.
func (r *Runtime) keepConnected(ctx context.Context, l *link) {
	defer close(r.done)
	defer r.events.close()
	defer r.link.close()
	for {
		select {
		case <-ctx.Done():
			l.close()
			<-l.broken
			l.hostLifetime.close()
			return
		case <-l.broken:
		}
		r.link.set(nil)
		l.close()
		r.awaitEnd(ctx, l)
		l.hostLifetime.close()
		next, ok := r.reconnect(ctx)
		reap(l.child)
		if !ok {
			return
		}
		l = next
		r.attach(ctx, l)
		r.addMissed(ctx, l)
	}
}

// awaitEnd waits until the host that has hung up has ended, and with it all processes in its pid namespace. Its sockets are
// closed before that, and the next host would report containers as ended that the kernel has not killed yet. After
// StartTimeout calls fail with the reason, and awaitEnd still waits.
func (r *Runtime) awaitEnd(ctx context.Context, l *link) {
	tell := time.AfterFunc(r.config.StartTimeout, func() {
		r.link.fail(fmt.Errorf("the container host process has hung up and has not ended after %s: another one is started when it has; "+
			"if it hangs, kill it", r.config.StartTimeout))
	})
	defer tell.Stop()
	l.hostLifetime.wait(ctx)
}

func (r *Runtime) reconnect(ctx context.Context) (*link, bool) {
	for {
		l, err := establish(ctx, newLauncher(r.config))
		if err == nil {
			return l, true
		}
		r.link.fail(fmt.Errorf("the container host process has died and cannot be started again: %w", err))
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(reconnectPause):
		}
	}
}

// addMissed adds an event for each container that may have ended or lost output while there was no link.
func (r *Runtime) addMissed(ctx context.Context, l *link) {
	reply, err := l.ask(ctx, wire.Request{Op: wire.OpList})
	if err != nil {
		return // the link is broken again, and addMissed is called for the next one
	}
	for _, s := range reply.Statuses {
		if s.State == runtime.Exited || s.LostOutput != nil {
			r.events.add(s)
		}
	}
}
