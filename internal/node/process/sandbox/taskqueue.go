package sandbox

import (
	goruntime "runtime"
	"sync"
	"time"
)

// taskQueue holds tasks for which no thread has had time yet.
type taskQueue struct {
	mu     sync.Mutex
	filled sync.Cond
	tasks  []*task
	closed bool
	// taken counts the tasks that threads have taken. grew is what it was when the last thread was added.
	taken, grew int
	// grow adds a thread; nil if there is one for one container, which no other waits for.
	grow func() error
}

func newTaskQueue(grow func() error) *taskQueue {
	q := &taskQueue{grow: grow, grew: -1}
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
	first.taken = true
	q.tasks = q.tasks[1:]
	q.taken++
	return first
}

// close ends the threads of the queue. No task may follow.
func (q *taskQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}

// hangTime is how long all threads may work on tasks before another one is added. A thread hangs that looks up a path on a disk that
// does not answer.
const hangTime = 250 * time.Millisecond

// watch adds a thread if none has taken a task for a while, though this one waits.
func (q *taskQueue) watch(t *task, taken int) {
	q.mu.Lock()
	hangs := q.taken == taken && q.grew != taken && !t.taken
	if hangs {
		q.grew = taken
	}
	taken = q.taken
	if !t.taken {
		time.AfterFunc(hangTime, func() { q.watch(t, taken) })
	}
	q.mu.Unlock()
	if hangs && q.grow() != nil {
		q.mu.Lock()
		q.grew = -1 // It is tried again.
		q.mu.Unlock()
	}
}

// run makes a thread do the work and waits for it. It wakes a thread only after the other goroutines that can run: some of
// them add tasks as well, and going over to a thread and back costs as much as the shortest tasks.
func (q *taskQueue) run(do func(*thread) error) error {
	j := &task{do: do, done: make(chan error, 1)}
	q.mu.Lock()
	q.tasks = append(q.tasks, j)
	taken := q.taken
	q.mu.Unlock()
	if q.grow != nil {
		slow := time.AfterFunc(hangTime, func() { q.watch(j, taken) })
		defer slow.Stop()
	}
	goruntime.Gosched()
	q.mu.Lock()
	if len(q.tasks) > 0 {
		q.filled.Signal()
	}
	q.mu.Unlock()
	return <-j.done
}
