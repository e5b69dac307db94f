package scenario_test

import (
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/await"
)

// The columns.
const (
	onServer    = "stint server"
	onCluster   = "stint controller"
	onReference = "kube-controller-manager"
)

// eventDrainTime is how long Stint's controllers may take to write their last events when a scenario stops them, since
// other scenarios wait for these events.
const eventDrainTime = await.Limit

// column is a place where scenarios run.
type column struct {
	name string
	api  kubernetes.Interface
	// stint is the API of Stint's own kinds. The reference has none.
	stint rest.Interface
	// backoff is the delay after a pod's first failure, a whole number of seconds as times in the API are.
	backoff   time.Duration
	reference bool
	chronicle *chronicle

	mu         sync.Mutex
	controller stoppable
	// stops is how many scenarios want the controller stopped.
	stops int
}

// stoppable is what a scenario may stop: the controllers. The API server keeps running.
type stoppable interface {
	start(t testing.TB)
	stop(t testing.TB)
	// interrupts reports whether the watches end with it.
	interrupts() bool
}

func newColumn(t *testing.T, name string, config *rest.Config, c stoppable) *column {
	config = rest.CopyConfig(config)
	config.QPS = -1
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	column := &column{
		name: name, api: api, controller: c, chronicle: startChronicle(t, api),
		backoff: 10 * time.Second, reference: name == onReference,
	}
	if !column.reference {
		column.stint = stintAPI(t, config)
		column.chronicle.follow(t, column.stint, "scheduledjobs", &stintv1.ScheduledJob{})
		column.chronicle.follow(t, column.stint, "resultslices", &stintv1.ResultSlice{})
	}
	return column
}

// stintAPI returns a client for Stint's own kinds.
func stintAPI(t *testing.T, config *rest.Config) rest.Interface {
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &stintv1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(stintKinds()).WithoutConversion()
	config.WarningHandler = rest.NoWarnings{}
	api, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func stintKinds() *runtime.Scheme {
	kinds := runtime.NewScheme()
	if err := stintv1.AddToScheme(kinds); err != nil {
		panic(err)
	}
	return kinds
}

func (c *column) scheduledJobs(namespace string) *gentype.ClientWithList[*stintv1.ScheduledJob, *stintv1.ScheduledJobList] {
	return gentype.NewClientWithList("scheduledjobs", c.stint, runtime.NewParameterCodec(stintKinds()), namespace,
		func() *stintv1.ScheduledJob { return &stintv1.ScheduledJob{} },
		func() *stintv1.ScheduledJobList { return &stintv1.ScheduledJobList{} })
}

func (c *column) stopController(t testing.TB) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stops++; c.stops == 1 {
		if c.controller.interrupts() {
			c.chronicle.interrupt()
		}
		c.controller.stop(t)
	}
}

func (c *column) startController(t testing.TB) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stops--; c.stops == 0 {
		c.controller.start(t)
	}
}
