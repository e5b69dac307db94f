// Package bounded reads the documents of images, which are JSON: manifests, indexes and configurations. Others have written
// them, so their size is bounded, and the memory that their values take: a list of a million empty entries is short as text.
package bounded

import (
	"encoding/json"
	"fmt"
	"io"
)

const (
	// MaxBytes bounds a document. Registries refuse larger manifests (github.com/distribution/distribution), and Podman larger
	// configurations (go.podman.io/image).
	MaxBytes = 4 << 20
	// maxValues bounds the values in a document. An image of 500 layers, each with a line of history, has about 5,000.
	maxValues = 20_000
	// maxDepth is how deep values may be nested. In an image it is about five.
	maxDepth = 32
)

// Error says which bound a document has passed.
type Error struct{ what string }

func (e *Error) Error() string {
	return e.what + ": build the image with fewer layers, labels or lines of history"
}

// Read reads a document of so many bytes.
func Read(from io.Reader, size int64) ([]byte, error) {
	if err := CheckSize(size); err != nil {
		return nil, err
	}
	data := make([]byte, size)
	_, err := io.ReadFull(from, data)
	return data, err
}

// CheckSize returns a *Error if no document may have so many bytes.
func CheckSize(bytes int64) error {
	if bytes > MaxBytes {
		return &Error{fmt.Sprintf("it has more than %d MiB", MaxBytes>>20)}
	}
	return nil
}

// Unmarshal is json.Unmarshal, except that it returns a *Error for a document that has passed a bound.
func Unmarshal(data []byte, into any) error {
	if err := CheckSize(int64(len(data))); err != nil {
		return err
	}
	if err := checkValues(data); err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// checkValues counts what begins a value outside strings. Of what is not JSON, the count is of no use, and does not matter.
func checkValues(data []byte) error {
	values, depth, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++ // The next byte is escaped.
		case inString:
		case c == '[' || c == '{':
			values++
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',':
			values++
		}
		switch {
		case values > maxValues:
			return &Error{fmt.Sprintf("it has more than %d values", maxValues)}
		case depth > maxDepth:
			return &Error{fmt.Sprintf("its values are nested more than %d deep", maxDepth)}
		}
	}
	return nil
}
