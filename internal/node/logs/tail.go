package logs

import (
	"bytes"
	"context"
	"io"
)

// Last returns the end of a log: at most lines lines and at most size bytes of them.
func Last(path string, lines int64, size int) (string, error) {
	r := Open(context.Background(), path, nil, Options{Tail: lines, Limit: -1})
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	if len(text) > size {
		text = text[len(text)-size:]
	}
	return string(bytes.ToValidUTF8(text, []byte("?"))), nil
}
