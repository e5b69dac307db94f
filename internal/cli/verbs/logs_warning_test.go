package verbs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/logs"
)

// Output is lost while the log is followed: only an answer that begins later can say so.
func TestALogThatWasFollowedIsAskedForAgain(t *testing.T) {
	for name, c := range map[string]struct {
		follow bool
		want   string
	}{
		"followed":     {true, "Warning: 7 bytes are lost\n"},
		"not followed": {false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked++; asked > 1 {
					w.Header().Set("Warning", `299 - "7 bytes are lost"`)
				}
				fmt.Fprintln(w, "a line")
			}))
			defer server.Close()
			base, err := url.Parse(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			var out, warned strings.Builder
			request := rest.NewRequestWithClient(base, "", rest.ClientContentConfig{}, server.Client()).Verb("GET").
				WarningHandler(rest.NewWarningWriter(&warned, rest.WarningWriterOptions{}))
			command := logsCommand{LogsOptions: &logs.LogsOptions{Follow: c.follow}}
			if err := command.consume(t.Context(), request, &out); err != nil {
				t.Fatal(err)
			}
			if out.String() != "a line\n" || warned.String() != c.want {
				t.Errorf("printed %q, warned %q, want %q", out.String(), warned.String(), c.want)
			}
		})
	}
}
