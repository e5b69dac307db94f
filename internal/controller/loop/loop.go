package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/stint-dev/stint/internal/alarm"
)

// Loop runs a controller: a queue of objects to sync, event handlers that add to it, and an alarm that adds an object at a
// set time.
type Loop struct {
	Queue Queue
	Alarm *alarm.Alarm[types.NamespacedName]

	name     string
	handlers []cache.DoneChecker
	// startErr is why the controller cannot run.
	startErr error
}

// New returns the loop of a controller. Errors and the queue's metrics have its name. If c is nil, it uses the real clock.
func New(name string, c clock.WithTicker) *Loop {
	if c == nil {
		c = clock.RealClock{}
	}
	l := &Loop{Queue: NewQueue(name, c), name: name}
	l.Alarm = alarm.New(l.Queue.Add, c)
	return l
}

// Watch adds handler to the informer. An error is returned by Run.
func (l *Loop) Watch(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		l.FailStart(fmt.Errorf("watching: %w", err))
		return
	}
	l.handlers = append(l.handlers, registration.HasSyncedChecker())
}

// FailStart makes Run return err at once. A nil err has no effect.
func (l *Loop) FailStart(err error) { l.startErr = errors.Join(l.startErr, err) }

// Ready waits until the handlers have seen every object of the informers' first lists. It returns false if ctx ends before
// that, or with an error that was reported before; then the controller must not run.
func (l *Loop) Ready(ctx context.Context) (ready bool, err error) {
	if l.startErr != nil {
		err = fmt.Errorf("%s controller: %w", l.name, l.startErr)
	}
	ready = err == nil && cache.WaitFor(ctx, "", l.handlers...)
	if !ready {
		l.Queue.ShutDown()
	}
	return ready, err
}

// Run calls sync for the objects in the queue, in several workers, until ctx ends. It returns after the last call of sync.
func (l *Loop) Run(ctx context.Context, workers int, sync func(context.Context, types.NamespacedName) error) error {
	if ready, err := l.Ready(ctx); !ready {
		return err
	}
	stopped := l.startAlarm(ctx)
	l.Queue.Run(ctx, workers, sync)
	stopped()
	return nil
}

func (l *Loop) startAlarm(ctx context.Context) (wait func()) {
	var running sync.WaitGroup
	running.Go(func() { l.Alarm.Run(ctx) })
	return running.Wait
}
