package apiserver

import (
	"net/http"
	"sync"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"
	openapiroutes "k8s.io/apiserver/pkg/server/routes"
	openapicommon "k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const (
	// builtKept is the time for which what the library has built is kept. Clients ask for several documents at once. It ends before
	// a quiet process returns its memory.
	builtKept = 3 * time.Second
	// maxDocuments is several times the number of documents and their formats.
	maxDocuments = 100
)

// openAPIDocuments serves the OpenAPI documents. The library builds all of them together, and that takes more memory than
// all else in an idle server. So they are built when a client asks for one that is not there yet, and a moment later only the
// documents that clients have asked for are left, compressed.
type openAPIDocuments struct {
	build func() http.Handler

	mu        sync.Mutex
	built     http.Handler
	unused    *time.Timer
	documents map[documentKey]*document
}

// documentKey has all of a request that decides which document is the answer.
type documentKey struct{ uri, accept string }

// serveOpenAPI installs the documents. The configuration must be complete.
func serveOpenAPI(s *genericapiserver.GenericAPIServer, c *genericapiserver.Config) {
	documents := newOpenAPIDocuments(func() http.Handler {
		built := mux.NewPathRecorderMux("openapi")
		v2 := *c.OpenAPIConfig // the library puts functions into it that refer to all that it builds
		openapiroutes.OpenAPI{Config: &v2}.InstallV2(s.Handler.GoRestfulContainer, built)
		v3 := *c.OpenAPIV3Config
		v3.Definitions = v3.GetDefinitions(func(name string) spec.Ref {
			name, _ = v3.GetDefinitionName(name)
			return spec.MustCreateRef("#/components/schemas/" + openapicommon.EscapeJsonPointer(name))
		})
		openapiroutes.OpenAPI{V3Config: &v3}.InstallV3(s.Handler.GoRestfulContainer, built)
		return built
	})
	paths := s.Handler.NonGoRestfulMux
	paths.Handle("/openapi/v2", documents)
	paths.Handle("/openapi/v3", documents)
	paths.UnlistedHandlePrefix("/openapi/v3/", documents)
}

// forgetOpenAPI returns a function that has the configuration forget, when the API is installed, what takes three megabytes: the
// definitions of all types, which only documents still need, and functions of the library that refer to all that it has built.
func forgetOpenAPI(c *openapicommon.OpenAPIV3Config) func() {
	before := *c
	before.Definitions = nil
	return func() { *c = before }
}

func newOpenAPIDocuments(build func() http.Handler) *openAPIDocuments {
	return &openAPIDocuments{build: build, documents: map[documentKey]*document{}}
}

// ServeHTTP implements http.Handler.
func (d *openAPIDocuments) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := documentKey{r.URL.RequestURI(), r.Header.Get("Accept")}
	found := d.get(key)
	if found == nil {
		found = newDocument(d.handler(), r)
		d.put(key, found)
	}
	found.serve(w, r)
}

func (d *openAPIDocuments) get(key documentKey) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.documents[key]
}

// put keeps a document. Refusals and redirections are not kept: clients could ask for any number of them.
func (d *openAPIDocuments) put(key documentKey, made *document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if made.status == http.StatusOK && len(d.documents) < maxDocuments {
		d.documents[key] = made
	}
}

// handler returns what the library has built.
func (d *openAPIDocuments) handler() http.Handler {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.built == nil {
		d.built = d.build()
		d.unused = time.AfterFunc(builtKept, d.drop)
	}
	d.unused.Reset(builtKept)
	return d.built
}

func (d *openAPIDocuments) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.built = nil
}
