// Package examples holds manifests for users to try. Its test checks that they are valid.
package examples

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func TestEveryExampleIsAValidManifestThatTheReadmeLists(t *testing.T) {
	for _, file := range manifests(t, "*.yaml") {
		t.Run(file, func(t *testing.T) {
			if !strings.Contains(read(t, "README.md"), "["+file+"]("+file+")") {
				t.Errorf("README.md has no line for %s", file)
			}
			if jobs := decode(t, []byte(read(t, file))); jobs == 0 {
				t.Error("there is nothing to run in it")
			}
		})
	}
}

func TestThePatternsAreValidManifestsThatTheirReadmesUse(t *testing.T) {
	for _, file := range manifests(t, "patterns/*/*.yaml") {
		t.Run(file, func(t *testing.T) {
			if !strings.Contains(read(t, filepath.Join(filepath.Dir(file), "README.md")), filepath.Base(file)) {
				t.Errorf("README.md beside it does not use %s", file)
			}
			decode(t, []byte(read(t, file)))
		})
	}
}

func manifests(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// decode fails on fields that no API type has, and returns the number of Jobs, CronJobs and ScheduledJobs.
func decode(t *testing.T, content []byte) (jobs int) {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, stintv1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	strict := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return jobs
		}
		if err != nil {
			t.Fatal(err)
		}
		obj, _, err := strict.Decode(document, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		switch o := obj.(type) {
		case *batchv1.Job:
			jobs++
			if o.Name == "" || o.Spec.Template.Spec.RestartPolicy == "" {
				t.Errorf("Job %q needs a name and a restart policy", o.Name)
			}
		case *batchv1.CronJob, *stintv1.ScheduledJob:
			jobs++
		}
	}
}
