// Package schedules is what `stint trigger`, `stint suspend` and `stint resume` do to CronJobs and ScheduledJobs, on a
// server of Stint and on any cluster.
//
//	name → the one object that it stands for → a run on demand, or a change of its schedule
//
// A run of a CronJob is a Job that is made from its template, as kubectl create job --from does. A run of a ScheduledJob
// is an entry in its list of runs, and the controller makes the Job.
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

// fieldManager owns the fields that this package sets.
const fieldManager = "stint"

// InputError is one that the user's next attempt can avoid.
type InputError struct{ error }

func (e InputError) Unwrap() error { return e.error }

func inputErrorf(format string, args ...any) error {
	return InputError{fmt.Errorf(format, args...)}
}

// refused sorts out what a server says about the input.
func refused(err error) error {
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return InputError{err}
	}
	return err
}

// Clients ask one server about one namespace.
type Clients struct {
	// Reconnect, where it is set, finds the server that has taken the place of one that is gone.
	Reconnect func(context.Context) (*target.Target, error)

	warn      rest.WarningHandler
	target    *target.Target
	namespace string
	batch     batchclient.BatchV1Interface
	stint     rest.Interface
}

// NewClients asks the target. Warn is told what the server warns of.
func NewClients(t *target.Target, warn rest.WarningHandler) (*Clients, error) {
	c := &Clients{warn: warn}
	return c, c.use(t)
}

// use makes t the server that is asked.
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

// Target is the server that is asked now.
func (c *Clients) Target() *target.Target { return c.target }

const scheduledJobs = "scheduledjobs"

func (c *Clients) scheduledJob(ctx context.Context, name string) (*stintv1.ScheduledJob, error) {
	scheduled := &stintv1.ScheduledJob{}
	err := c.stint.Get().Namespace(c.namespace).Resource(scheduledJobs).Name(name).Do(ctx).Into(scheduled)
	return scheduled, err
}

// contended is for objects to which the controller may be writing all the time.
var contended = wait.Backoff{Steps: 10, Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.5}

// updateStatus fails with a conflict where the object is not the newest version.
func (c *Clients) updateStatus(ctx context.Context, scheduled *stintv1.ScheduledJob) error {
	scheduled.APIVersion, scheduled.Kind = stintv1.SchemeGroupVersion.String(), "ScheduledJob"
	return c.stint.Put().Namespace(c.namespace).Resource(scheduledJobs).Name(scheduled.Name).SubResource("status").
		VersionedParams(&metav1.UpdateOptions{FieldManager: fieldManager}, metav1.ParameterCodec).
		Body(scheduled).Do(ctx).Error()
}
