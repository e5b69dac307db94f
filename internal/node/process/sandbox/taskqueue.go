package sandbox

import (
	goruntime "runtime"
	"sync"
)

// taskQueue holds tasks for which no thread has had time yet.
type taskQueue struct {
	mu     sync.Mutex
	filled sync.Cond
	tasks  []*task
	closed bool
}

func newTaskQueue() *taskQueue {
	q := &taskQueue{}
	q.filled.L = &q.mu
	return q
}

// take waits for a task. It returns nil if the queue was closed.
func (q *taskQueue) take() *task {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.tasks) == 0 {
		if q.closed {
			return nil
		}
		q.filled.Wait()
	}
	first := q.tasks[0]
	q.tasks[0] = nil // frees it
	q.tasks = q.tasks[1:]
	return first
}

// close ends the threads of the queue. No task may follow.
func (q *taskQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}

// run makes a thread do the work and waits for it. It wakes a thread only after the other goroutines that can run: some of
// them add tasks as well, and going over to a thread and back costs as much as the shortest tasks.
func (q *taskQueue) run(do func(*thread) error) error {
	j := &task{do: do, done: make(chan error, 1)}
	q.mu.Lock()
	q.tasks = append(q.tasks, j)
	q.mu.Unlock()
	goruntime.Gosched()
	q.mu.Lock()
	if len(q.tasks) > 0 {
		q.filled.Signal()
	}
	q.mu.Unlock()
	return <-j.done
}
