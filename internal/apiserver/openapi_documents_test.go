package apiserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	openapicommon "k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// builtDocuments counts how often they were built. Each answer tells its path and format.
type builtDocuments struct{ times int }

func (b *builtDocuments) build() http.Handler {
	b.times++
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("hash") == "old" {
			http.Redirect(w, r, "/openapi/v3/new", http.StatusMovedPermanently)
			return
		}
		text := r.URL.Path + "@" + r.Header.Get("Accept")
		w.Header().Set("Etag", fmt.Sprintf("%q", text))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	})
}

func ask(d *openAPIDocuments, uri string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, uri, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

func TestOpenAPIDocumentsAreBuiltOnceAndWhatBuiltThemIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		built := &builtDocuments{}
		d := newOpenAPIDocuments(built.build)
		for range 2 {
			for _, accept := range []string{"application/json", "application/protobuf"} {
				got, want := ask(d, "/openapi/v2", "Accept", accept).Body.String(), "/openapi/v2@"+accept
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			time.Sleep(builtKept + time.Second)
			synctest.Wait()
			if d.built != nil {
				t.Error("what built the documents is still there")
			}
		}
		if built.times != 1 {
			t.Errorf("built %d times, want once", built.times)
		}
		ask(d, "/openapi/v3")
		if built.times != 2 {
			t.Errorf("built %d times after a new document was asked for, want twice", built.times)
		}
		time.Sleep(2 * builtKept)
	})
}

func TestAKeptOpenAPIDocumentIsServedAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newOpenAPIDocuments((&builtDocuments{}).build)
		const tag = `"/openapi/v3@"`
		// The first request asks for a part, and yet the whole is kept.
		if got := ask(d, "/openapi/v3", "Range", "bytes=1-7"); got.Code != http.StatusPartialContent || got.Body.String() != "openapi" {
			t.Errorf("a part: got %d %q", got.Code, got.Body)
		}
		if got := ask(d, "/openapi/v3"); got.Code != http.StatusOK || got.Body.String() != "/openapi/v3@" || got.Header().Get("Etag") != tag {
			t.Errorf("the whole: got %d %q, tag %s", got.Code, got.Body, got.Header().Get("Etag"))
		}
		if got := ask(d, "/openapi/v3", "If-None-Match", tag); got.Code != http.StatusNotModified || got.Body.Len() > 0 {
			t.Errorf("an unchanged one: got %d %q", got.Code, got.Body)
		}
		time.Sleep(2 * builtKept)
	})
}

func TestNoMoreOpenAPIDocumentsAreKeptThanThereMayBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newOpenAPIDocuments((&builtDocuments{}).build)
		if got := ask(d, "/openapi/v3/a?hash=old"); got.Code != http.StatusMovedPermanently || got.Header().Get("Location") != "/openapi/v3/new" {
			t.Errorf("got %d to %q, want a redirection", got.Code, got.Header().Get("Location"))
		}
		if len(d.documents) != 0 {
			t.Error("a redirection is kept")
		}
		for i := range 2 * maxDocuments {
			uri := fmt.Sprint("/openapi/v3/", i)
			if got := ask(d, uri).Body.String(); got != uri+"@" {
				t.Errorf("%s: got %q", uri, got)
			}
		}
		if len(d.documents) != maxDocuments {
			t.Errorf("%d documents are kept, want %d", len(d.documents), maxDocuments)
		}
		time.Sleep(2 * builtKept)
	})
}

func TestTheConfigurationForgetsWhatTheLibraryHasBuilt(t *testing.T) {
	names := func(string) (string, spec.Extensions) { return "name", nil }
	c := &openapicommon.OpenAPIV3Config{GetDefinitionName: names, Definitions: map[string]openapicommon.OpenAPIDefinition{"type": {}}}
	forget := forgetOpenAPI(c)
	c.GetOperationIDAndTagsFromRoute = func(openapicommon.Route) (string, []string, error) { return "", nil, nil }
	forget()
	if c.Definitions != nil || c.GetOperationIDAndTagsFromRoute != nil || c.GetDefinitionName == nil {
		t.Errorf("it still has %+v", c)
	}
}
