package why

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// The log of pod part lacks output, and that of pod empty has none. Pod gone is deleted, and its kept log lacks output.
func TestTheTailSaysWhatTheLogLacks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch warn := func() { w.Header().Set("Warning", `299 - "7 bytes are lost"`) }; {
		case strings.HasSuffix(r.URL.Path, "/pods/part/log"), r.URL.Query().Get("pod") == "gone":
			warn()
			fmt.Fprintln(w, "the end")
		case strings.HasSuffix(r.URL.Path, "/pods/empty/log"):
			warn()
		case strings.HasSuffix(r.URL.Path, "/pods/whole/log"):
			fmt.Fprintln(w, "the end")
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	a, err := NewAsker(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	x := &stintv1.JobExplanation{}
	x.Namespace, x.Name = "default", "job"
	for _, pod := range []string{"part", "gone", "empty", "whole", "unknown"} {
		x.Failures = append(x.Failures, stintv1.PodResult{Pod: pod})
	}
	want := [][]string{{"the end", "[7 bytes are lost]"}, {"the end", "[7 bytes are lost]"}, {"[7 bytes are lost]"}, {"the end"}, nil}
	if diff := cmp.Diff(want, a.Tails(t.Context(), x)); diff != "" {
		t.Error(diff)
	}
}
