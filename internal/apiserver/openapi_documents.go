package apiserver

import (
	"net/http"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
	openapiroutes "k8s.io/apiserver/pkg/server/routes"
)

// documentsKept is the time for which the OpenAPI documents are kept after the last request for them.
const documentsKept = 5 * time.Minute

// openAPIDocuments serves the OpenAPI documents. They take as much memory as all else in an idle server, and clients cache
// them. So they are built when a client asks for them, and dropped later.
type openAPIDocuments struct {
	build func() http.Handler

	mu     sync.Mutex
	built  http.Handler
	unused *time.Timer
}

// serveOpenAPI installs the documents. The configuration must be complete.
func serveOpenAPI(s *genericapiserver.GenericAPIServer, c *genericapiserver.Config) {
	documents := &openAPIDocuments{build: func() http.Handler {
		built := mux.NewPathRecorderMux("openapi")
		openapiroutes.OpenAPI{Config: c.OpenAPIConfig}.InstallV2(s.Handler.GoRestfulContainer, built)
		openapiroutes.OpenAPI{V3Config: c.OpenAPIV3Config}.InstallV3(s.Handler.GoRestfulContainer, built)
		return built
	}}
	paths := s.Handler.NonGoRestfulMux
	paths.Handle("/openapi/v2", documents)
	paths.Handle("/openapi/v3", documents)
	paths.UnlistedHandlePrefix("/openapi/v3/", documents)
}

// ServeHTTP implements http.Handler.
func (d *openAPIDocuments) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.get().ServeHTTP(w, r) }

func (d *openAPIDocuments) get() http.Handler {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.built == nil {
		d.built = d.build()
		d.unused = time.AfterFunc(documentsKept, d.drop)
	}
	d.unused.Reset(documentsKept)
	return d.built
}

func (d *openAPIDocuments) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.built = nil
}
