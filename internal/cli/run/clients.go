package run

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// clients are the API clients of one server.
type clients struct {
	batch  batchclient.BatchV1Interface
	core   coreclient.CoreV1Interface
	any    dynamic.Interface
	mapper meta.RESTMapper
}

func newClients(config *rest.Config) (*clients, error) {
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &clients{mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))}
	if c.any, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	binary := rest.CopyConfig(config)
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	binary.AcceptContentTypes = binary.ContentType + ",application/json"
	if c.batch, err = batchclient.NewForConfig(binary); err != nil {
		return nil, err
	}
	c.core, err = coreclient.NewForConfig(binary)
	return c, err
}

// warnings shows each warning once.
type warnings struct {
	note func(string)
	mu   sync.Mutex
	seen map[string]bool
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	if code == 299 {
		w.show(text)
	}
}

func (w *warnings) show(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text == "" || w.seen[text] {
		return
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[text] = true
	w.note("warning: " + text)
}
