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

// Loop is what a controller runs on: a queue of objects, the handlers that fill it, and an alarm that does so later.
type Loop struct {
	Queue Queue
	Alarm *alarm.Alarm[types.NamespacedName]

	name     string
	handlers []cache.InformerSynced
	// startErr is why the controller cannot run.
	startErr error
}

// New makes the loop of the controller that errors and the queue's metrics call name. The clock is the real one where nil.
func New(name string, c clock.WithTicker) *Loop {
	if c == nil {
		c = clock.RealClock{}
	}
	l := &Loop{Queue: NewQueue(name, c), name: name}
	l.Alarm = alarm.New(l.Queue.Add, c)
	return l
}

// Watch calls handler for each change that the informer shows.
func (l *Loop) Watch(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		l.FailStart(fmt.Errorf("watching: %w", err))
		return
	}
	l.handlers = append(l.handlers, registration.HasSynced)
}

// FailStart keeps the controller from running, if err is one.
func (l *Loop) FailStart(err error) { l.startErr = errors.Join(l.startErr, err) }

// Ready waits until the handlers have been called for all that was there when the informers started. It returns false if
// ctx ends before that; then the controller is not to run.
func (l *Loop) Ready(ctx context.Context) (ready bool, err error) {
	if l.startErr != nil {
		err = fmt.Errorf("%s controller: %w", l.name, l.startErr)
	}
	ready = err == nil && cache.WaitForCacheSync(ctx.Done(), l.handlers...)
	if !ready {
		l.Queue.ShutDown()
	}
	return ready, err
}

// Run has workers call sync for what is in the queue until ctx ends. It returns when the last call has.
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
