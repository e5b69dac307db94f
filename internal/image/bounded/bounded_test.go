package bounded_test

import (
	"errors"
	"io"
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

func TestALargeDocumentIsNotRead(t *testing.T) {
	from := strings.NewReader(`{"a":1} `)
	if _, err := bounded.Read(from, bounded.MaxBytes+1); err == nil || !strings.Contains(err.Error(), "more than 4 MiB") || from.Len() != 8 {
		t.Errorf("read with %v", err)
	}
	if data, err := bounded.Read(from, 7); err != nil || string(data) != `{"a":1}` {
		t.Errorf("read %q, %v", data, err)
	}
	if _, err := bounded.Read(from, 2); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half of a document was read: %v", err)
	}
}
