package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestExists(t *testing.T) {
	for sentence, tc := range map[string]struct {
		make func(dir string) error
		want bool
	}{
		"no directory":                   {func(string) error { return nil }, false},
		"a directory of something else":  {func(dir string) error { return os.MkdirAll(filepath.Join(dir, "music"), 0o700) }, false},
		"a file, which Open will refuse": {func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, true},
		"a store": {func(dir string) error {
			s, err := Open(context.Background(), dir)
			if err != nil {
				return err
			}
			return s.Close()
		}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := tc.make(dir); err != nil {
				t.Fatal(err)
			}
			if got := Exists(dir); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
