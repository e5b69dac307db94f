package bounded_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/stint-dev/stint/internal/image/bounded"
)

func TestDocumentsAreBounded(t *testing.T) {
	for name, test := range map[string]struct{ text, refused string }{
		"a usual one":         {`{"config":{"Env":["A=[,[,[","B=\"{{{\\"]}}`, ""},
		"many layers":         {`{"layers":[` + strings.Repeat(`{},`, 9_900) + `{}]}`, ""},
		"too many layers":     {`{"layers":[` + strings.Repeat(`{},`, 10_000) + `{}]}`, "more than 20000 values"},
		"too many variables":  {`{"config":{"Env":[` + strings.Repeat(`"",`, 20_000) + `""]}}`, "more than 20000 values"},
		"commas in a string":  {`{"author":"` + strings.Repeat(`,[\"`, 20_000) + `"}`, ""},
		"values after one":    {`{"a":"` + strings.Repeat(`\\`, 7) + `","layers":[` + strings.Repeat(`{},`, 10_000) + `{}]}`, "more than 20000 values"},
		"deep values":         {`{"x":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`, ""},
		"too deep values":     {`{"x":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`, "more than 32 deep"},
		"as long as it may":   {`{}` + strings.Repeat(" ", bounded.MaxBytes-2), ""},
		"longer than it may":  {`{}` + strings.Repeat(" ", bounded.MaxBytes-1), "more than 4 MiB"},
		"brackets that close": {strings.Repeat("]", 10), "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			var m v1.Manifest
			err := bounded.Unmarshal([]byte(test.text), &m)
			var limit *bounded.Error
			switch {
			case test.refused == "" && err != nil:
				t.Errorf("it was refused: %v", err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("error %v, want one with %q", err, test.refused)
			case strings.Contains(test.refused, "more than") && !errors.As(err, &limit):
				t.Errorf("%v is not of a limit", err)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestNoMoreOfADocumentIsReadThanItMayHave(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := bounded.Read(io.LimitReader(endless{}, 1<<30))
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "more than 4 MiB") {
		t.Errorf("it was read: %v", err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
		t.Errorf("it took %d bytes", taken)
	}
	if data, err := bounded.Read(strings.NewReader(`{"a":1}`)); err != nil || string(data) != `{"a":1}` {
		t.Errorf("read %q, %v", data, err)
	}
}
