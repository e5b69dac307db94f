package store_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/images"
)

// stalled is a layer of which nothing can be read until the test closes goOn.
type stalled struct {
	v1.Layer
	goOn chan struct{}
}

func (l stalled) Compressed() (io.ReadCloser, error) {
	from, err := l.Layer.Compressed()
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(afterwards{l.goOn}, from), from}, err
}

type afterwards struct{ goOn chan struct{} }

func (a afterwards) Read([]byte) (int, error) {
	<-a.goOn
	return 0, io.EOF
}

func TestWhatReadsLayersMayDoLittleElse(t *testing.T) {
	s, _ := open(t)
	slow := stalled{layer(t, "slow"), make(chan struct{})}
	ended := adding(t, s, "a:1", layersImage{images.Image(t, v1.Config{}, slow.Layer), []v1.Layer{slow}})
	var status string
	await.Until(t, "the child that unpacks is under a filter of system calls", func() bool {
		status = statusOfChild(t)
		return strings.Contains(status, "\nSeccomp:\t2\n") && strings.Contains(status, "\nNoNewPrivs:\t1\n")
	}, func() string { return status })
	close(slow.goOn)
	if err := await.Value(t, "the image is added", ended); err != nil {
		t.Fatal(err)
	}
}

// statusOfChild returns the status file, in /proc, of the child that unpacks for a store.
func statusOfChild(t *testing.T) string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, _ := os.ReadFile(path)
		arguments, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if strings.Contains(string(text), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) && bytes.Contains(arguments, []byte("unpack")) {
			return string(text)
		}
	}
	return ""
}
