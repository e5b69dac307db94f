package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var generated = []string{"templates/stint.yaml", "templates/cronjob.yaml", "crds/stint.dev_scheduledjobs.yaml", "crds/stint.dev_resultslices.yaml"}

func TestTheChartIsThatOfTheManifests(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"templates", "crds"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(manifests, dir); err != nil {
		t.Fatal(err)
	}
	for _, file := range generated {
		if read(t, chart, file) != read(t, dir, file) {
			t.Errorf("%s is stale: run go generate ./deploy/generate", file)
		}
	}
}

func TestWithItsOwnValuesTheChartMakesWhatTheManifestDoes(t *testing.T) {
	_, want, _ := strings.Cut(read(t, manifests, "stint.yaml"), "\n---\n")
	if d := cmp.Diff(documents(t, want), documents(t, render(t, "templates/stint.yaml", nil))); d != "" {
		t.Errorf("manifest (-) and chart (+):\n%s", d)
	}
	if got := documents(t, render(t, "templates/cronjob.yaml", nil)); len(got) > 0 {
		t.Errorf("rights that no value asks for: %v", got)
	}
}

func TestValuesReachTheController(t *testing.T) {
	values := map[string]any{"image": "registry.example.com/stint:1", "replicas": 3, "controllers": []any{"*", "cronjob"},
		"managedBy": []any{"a.b/c", "kubernetes.io/job-controller"}, "resources": map[string]any{"limits": map[string]any{"memory": "1Gi"}}, "args": []any{"--kube-api-qps=100", "-v=4"}}
	if got, want := documents(t, render(t, "templates/cronjob.yaml", values)), documents(t, read(t, manifests, "cronjob.yaml")); !cmp.Equal(got, want) {
		t.Errorf("rights for CronJobs: %s", cmp.Diff(want, got))
	}
	made := documents(t, render(t, "templates/stint.yaml", values))
	spec := made[len(made)-1]["spec"].(map[string]any)
	container := spec["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	want := map[string]any{"replicas": 3.0, "image": "registry.example.com/stint:1", "resources": values["resources"], "args": []any{"controller",
		"--managed-by=a.b/c,kubernetes.io/job-controller", "--controllers=*,cronjob", "--metrics-bind-address=:8080", "--kube-api-qps=100", "-v=4"}}
	got := map[string]any{"replicas": spec["replicas"], "image": container["image"], "resources": container["resources"], "args": container["args"]}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestValuesSayWhereTheControllerRunsAndHowItsImageIsPulled(t *testing.T) {
	values := map[string]any{
		"imagePullSecrets": []any{map[string]any{"name": "registry"}},
		"nodeSelector":     map[string]any{"kubernetes.io/arch": "amd64"},
		"tolerations":      []any{map[string]any{"key": "control-plane", "operator": "Exists"}},
	}
	for name, value := range values {
		for _, d := range []struct {
			says   string
			change map[string]any
			want   any
		}{{"set", map[string]any{name: value}, value}, {"left out", nil, nil}} {
			t.Run(name+" "+d.says, func(t *testing.T) {
				if diff := cmp.Diff(d.want, podSpec(t, d.change)[name]); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// podSpec returns the pod spec of the Deployment.
func podSpec(t *testing.T, change map[string]any) map[string]any {
	t.Helper()
	made := documents(t, render(t, "templates/stint.yaml", change))
	spec := made[len(made)-1]["spec"].(map[string]any)
	return spec["template"].(map[string]any)["spec"].(map[string]any)
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// render does what helm template does, with the functions that the chart uses.
func render(t *testing.T, file string, change map[string]any) string {
	t.Helper()
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(read(t, chart, "values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	for name, value := range change {
		if values[name] == nil {
			t.Errorf("values.yaml has no %s", name)
		}
		values[name] = value
	}
	functions := template.FuncMap{
		"join": func(separator string, list []any) string {
			var words []string
			for _, word := range list {
				words = append(words, word.(string))
			}
			return strings.Join(words, separator)
		},
		"has":    func(one any, list []any) bool { return slices.Contains(list, one) },
		"toJson": func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
	}
	parsed, err := template.New(file).Option("missingkey=error").Funcs(functions).Parse(read(t, chart, file))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	data := map[string]any{"Values": values, "Release": map[string]any{"Namespace": "stint-system"}}
	if err := parsed.Execute(&out, data); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// documents returns the objects of a file.
func documents(t *testing.T, text string) (out []map[string]any) {
	t.Helper()
	for document := range strings.SplitSeq(text, "\n---\n") {
		object := map[string]any{}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if len(object) > 0 {
			out = append(out, object)
		}
	}
	return out
}
