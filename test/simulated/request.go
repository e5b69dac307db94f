package simulated

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/stint-dev/stint/internal/client"
)

// Request is something that a process asks of the server. It waits until the world serves it.
type Request struct {
	By *Process
	// Verb, Kind and Name order the requests of one moment.
	Verb, Kind, Name string
	// Object is what the process sent, nil where it only asks.
	Object client.Object
	// Found are the objects in the answer to a list.
	Found []client.Object
	At    time.Time
	// limited is set where a quota may refuse the request.
	limited bool
	do      func() (client.Object, error)
	answer  chan answer
}

// What is the verb and the kind, such as "create pod".
func (r *Request) What() string { return r.Verb + " " + r.Kind }

type answer struct {
	object client.Object
	err    error
}

// Fault is what goes wrong with a request.
type Fault string

// The faults.
const (
	NoFault Fault = ""
	Refused Fault = "refused: 500"
	Busy    Fault = "refused: 429"
	Quota   Fault = "refused: over quota"
	Lost    Fault = "carried out, but the answer is lost"
	Timeout Fault = "timed out, not carried out"
)

// Faults are the faults that any request may meet.
var Faults = []Fault{Refused, Busy, Lost, Timeout}

// respond returns the answer to a request that meets a fault; carry carries the request out.
func (f Fault) respond(r *Request, carry func() answer) answer {
	switch f {
	case Refused:
		return answer{err: apierrors.NewInternalError(errors.New("a fault"))}
	case Busy:
		return answer{err: apierrors.NewTooManyRequests("a fault", 1)}
	case Quota:
		return answer{err: apierrors.NewForbidden(schema.GroupResource{Resource: r.Kind}, r.Name, errors.New("exceeded quota"))}
	case Timeout:
		return answer{err: apierrors.NewTimeoutError("a fault", 1)}
	case Lost:
		carry()
		return answer{err: apierrors.NewTimeoutError("a fault", 1)}
	}
	return carry()
}

// requests are those that wait.
type requests struct {
	mu      sync.Mutex
	waiting []*Request
}

func (q *requests) add(r *Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
}

func (q *requests) remove(r *Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *Request) bool { return other == r })
}

// list returns what waits in an order that does not depend on how goroutines were scheduled.
func (q *requests) list() []*Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	slices.SortStableFunc(q.waiting, func(a, b *Request) int {
		return cmp.Or(cmp.Compare(a.By.Number, b.By.Number), cmp.Compare(a.Verb, b.Verb), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return slices.Clone(q.waiting)
}

func (q *requests) of(p *Process) []*Request {
	return slices.DeleteFunc(q.list(), func(r *Request) bool { return r.By != p })
}
