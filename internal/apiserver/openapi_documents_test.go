package apiserver

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestOpenAPIDocumentsAreBuiltWhenAskedForAndDroppedWhenUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		builds := 0
		documents := &openAPIDocuments{build: func() http.Handler {
			builds++
			return http.NotFoundHandler()
		}}
		ask := func() {
			documents.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/openapi/v2", nil))
		}
		for range 3 {
			ask()
			time.Sleep(documentsKept - time.Second)
		}
		if builds != 1 {
			t.Errorf("built %d times while in use, want once", builds)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if documents.built != nil {
			t.Error("unused documents are still there")
		}
		ask()
		if builds != 2 {
			t.Errorf("built %d times in all, want twice", builds)
		}
		time.Sleep(2 * documentsKept)
	})
}
