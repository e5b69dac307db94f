package scenario_test

import (
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The columns.
const (
	onServer    = "stint server"
	onCluster   = "stint controller"
	onReference = "kube-controller-manager"
)

// column is a place where scenarios run.
type column struct {
	name string
	api  kubernetes.Interface
	// backoff is the delay after a pod's first failure, a whole number of seconds as times in the API are.
	backoff time.Duration
	// patience bounds every wait.
	patience  time.Duration
	reference bool
	chronicle *chronicle

	mu         sync.Mutex
	controller stoppable
	// stops is how many scenarios want the controller stopped.
	stops int
}

// stoppable is what a scenario may stop. The API goes on.
type stoppable interface {
	start(t testing.TB)
	stop(t testing.TB)
	// interrupts tells that the watches end with it.
	interrupts() bool
}

func newColumn(t *testing.T, name string, config *rest.Config, c stoppable) *column {
	config = rest.CopyConfig(config)
	config.QPS = -1
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &column{
		name: name, api: api, controller: c, chronicle: startChronicle(t, api),
		backoff: 10 * time.Second, patience: 2 * time.Minute,
	}
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
