// Package schedules triggers, suspends and resumes CronJobs and ScheduledJobs (and suspends and resumes Jobs), on
// stint server and on any cluster.
//
//	name → the object of that name → a run on demand, or a change of spec.suspend
//
// A run of a CronJob is a Job that is created from its template, as kubectl create job --from does. A run of a ScheduledJob
// is an entry in its list of pending runs, for which the controller creates the Job.
package schedules

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/wait"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	"k8s.io/client-go/rest"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/cli/target"
)

// fieldManager is the field manager of all writes.
const fieldManager = "stint"

// InputError is an error that the user can correct.
type InputError struct{ error }

func (e InputError) Unwrap() error { return e.error }

func inputErrorf(format string, args ...any) error {
	return InputError{fmt.Errorf(format, args...)}
}

// refused makes a server's error an InputError if it is about the input.
func refused(err error) error {
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return InputError{err}
	}
	return err
}

// Clients are the API clients of one server, for one namespace.
type Clients struct {
	// Reconnect, if set, finds another server if the current one has stopped.
	Reconnect func(context.Context) (*target.Target, error)

	warn      rest.WarningHandler
	target    *target.Target
	namespace string
	batch     batchclient.BatchV1Interface
	stint     rest.Interface
}

// NewClients returns clients of the target. The server's warnings are passed to warn.
func NewClients(t *target.Target, warn rest.WarningHandler) (*Clients, error) {
	c := &Clients{warn: warn}
	return c, c.use(t)
}

// use makes t the current server.
func (c *Clients) use(t *target.Target) error {
	config := rest.CopyConfig(t.Config)
	config.UserAgent = "stint"
	config.WarningHandler = c.warn
	batch, err := batchclient.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := stintv1.AddToScheme(scheme); err != nil {
		return err
	}
	config.APIPath = "/apis"
	config.GroupVersion = &stintv1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	own, err := rest.RESTClientFor(config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	c.target, c.namespace, c.batch, c.stint = t, t.Namespace, batch, own
	return nil
}

// Target is the current server.
func (c *Clients) Target() *target.Target { return c.target }

const scheduledJobs = "scheduledjobs"

func (c *Clients) scheduledJob(ctx context.Context, name string) (*stintv1.ScheduledJob, error) {
	scheduled := &stintv1.ScheduledJob{}
	err := c.stint.Get().Namespace(c.namespace).Resource(scheduledJobs).Name(name).Do(ctx).Into(scheduled)
	return scheduled, err
}

// contended is the backoff for conflicts on an object that its controller may be updating.
var contended = wait.Backoff{Steps: 10, Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.5}

// updateStatus fails with a conflict if the object is not the newest version.
func (c *Clients) updateStatus(ctx context.Context, scheduled *stintv1.ScheduledJob) error {
	scheduled.APIVersion, scheduled.Kind = stintv1.SchemeGroupVersion.String(), "ScheduledJob"
	return c.stint.Put().Namespace(c.namespace).Resource(scheduledJobs).Name(scheduled.Name).SubResource("status").
		VersionedParams(&metav1.UpdateOptions{FieldManager: fieldManager}, metav1.ParameterCodec).
		Body(scheduled).Do(ctx).Error()
}
