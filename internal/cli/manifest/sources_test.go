package manifest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func jobNamed(name string) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: %s}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: ["true"]}]}}}
`, name)
}

func writeAll(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func namesOf(objects []*Object) (names []string) {
	for _, o := range objects {
		names = append(names, o.Name())
	}
	return names
}

func TestADirectoryIsItsManifests(t *testing.T) {
	dir := writeAll(t, map[string]string{"b.yaml": jobNamed("b"), "a.yml": jobNamed("a"), "README.md": "# no manifest", "deeper/c.yaml": jobNamed("c")})
	objects, err := Read(t.Context(), Sources{Files: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, namesOf(objects)); diff != "" {
		t.Error(diff)
	}
}

func TestAKustomizationIsBuilt(t *testing.T) {
	dir := writeAll(t, map[string]string{
		"base/job.yaml":           jobNamed("job"),
		"base/kustomization.yaml": "resources: [job.yaml]\n",
		"two/kustomization.yaml":  "resources: [../base]\nnameSuffix: -two\nconfigMapGenerator: [{name: settings, literals: [a=b]}]\n",
		"bad/kustomization.yaml":  "resources: [none.yaml]\n",
	})
	objects, err := Read(t.Context(), Sources{Kustomize: filepath.Join(dir, "two")})
	if err != nil {
		t.Fatal(err)
	}
	if got := namesOf(objects); len(got) != 2 || got[0] != "job-two" && got[1] != "job-two" {
		t.Errorf("built %v", got)
	}
	bad := filepath.Join(dir, "bad")
	if _, err := Read(t.Context(), Sources{Kustomize: bad}); err == nil || !strings.HasPrefix(err.Error(), bad+": cannot be built by kustomize: ") {
		t.Errorf("got %v", err)
	}
}

func TestAURLIsRead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/job.yaml":
			fmt.Fprint(w, jobNamed("far"))
		case "/typo.yaml":
			fmt.Fprint(w, strings.Replace(jobNamed("far"), "restartPolicy", "restartPolcy", 1))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	objects, err := Read(t.Context(), Sources{Files: []string{server.URL + "/job.yaml"}})
	if err != nil || len(objects) != 1 || objects[0].Name() != "far" {
		t.Errorf("read %v, %v", objects, err)
	}
	for path, want := range map[string]string{
		"/none.yaml": ": cannot be read: the server answers 404 Not Found",
		"/typo.yaml": ": document 1: spec.template.spec.restartPolcy: unknown field",
	} {
		if _, err := Read(t.Context(), Sources{Files: []string{server.URL + path}}); err == nil || !strings.Contains(err.Error(), server.URL+path+want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}
