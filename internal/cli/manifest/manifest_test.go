package manifest

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var update = flag.Bool("update", false, "write golden files")

const job = `apiVersion: batch/v1
kind: Job
metadata:
  name: pi
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: pi, image: "perl:5.34.0", command: [perl]}
`

const configMap = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1"}
`

// read is Read over files that are given as text.
func read(t *testing.T, files ...string) ([]*Object, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	var names []string
	for i, text := range files {
		name := string(rune('a'+i)) + ".yaml"
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return Read(context.Background(), Sources{Files: names, Stdin: strings.NewReader("")})
}

func TestReadFinds(t *testing.T) {
	jsonJob := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"pi"}}`
	for sentence, tc := range map[string]struct {
		files []string
		want  []string
	}{
		"one document":                          {[]string{job}, []string{"Job pi"}},
		"documents in their order":              {[]string{configMap + "---\n" + job}, []string{"ConfigMap settings", "Job pi"}},
		"files in their order":                  {[]string{job, configMap}, []string{"Job pi", "ConfigMap settings"}},
		"comments and empty documents between":  {[]string{"# hi\n---\n---\n" + job + "---\n# end\n...\n"}, []string{"Job pi"}},
		"a document with a byte order mark":     {[]string{"\xef\xbb\xbf" + job}, []string{"Job pi"}},
		"Windows line ends":                     {[]string{strings.ReplaceAll(configMap+"---\n"+job, "\n", "\r\n")}, []string{"ConfigMap settings", "Job pi"}},
		"JSON":                                  {[]string{jsonJob}, []string{"Job pi"}},
		"JSON objects one after the other":      {[]string{jsonJob + "\n" + strings.Replace(jsonJob, `"pi"`, `"e"`, 1)}, []string{"Job pi", "Job e"}},
		"YAML in flow style":                    {[]string{`{apiVersion: batch/v1, kind: Job, metadata: {name: pi}}`}, []string{"Job pi"}},
		"the items of a List":                   {[]string{`{"apiVersion":"v1","kind":"List","items":[` + jsonJob + `]}`}, []string{"Job pi"}},
		"a separator inside a block of text":    {[]string{strings.Replace(configMap, `{a: "1"}`, "\n  a: |\n    x\n    ---\n    y", 1)}, []string{"ConfigMap settings"}},
		"a name that the server completes":      {[]string{strings.Replace(job, "name: pi", "generateName: pi-", 1)}, []string{"Job pi-*"}},
		"null, which is what leaving it out is": {[]string{strings.Replace(job, "spec:\n", "spec:\n  parallelism: null\n", 1)}, []string{"Job pi"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects, err := read(t, tc.files...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, o.GVK.Kind+" "+o.Name())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for sentence, tc := range map[string]struct {
		files []string
		want  string
	}{
		"an empty file":                     {[]string{""}, "a.yaml: contains no object: put a Job manifest into it"},
		"a file of comments":                {[]string{"# later\n---\n"}, "a.yaml: contains no object: put a Job manifest into it"},
		"the same name twice in a file":     {[]string{job + "---\n" + job}, `a.yaml: document 2: metadata.name: Job "pi" is in a.yaml, document 1, already: rename one of them`},
		"the same name in two files":        {[]string{job, job}, `b.yaml: document 1: metadata.name: Job "pi" is in a.yaml, document 1, already: rename one of them`},
		"a field given twice, in JSON":      {[]string{`{"apiVersion":"batch/v1","kind":"Job","kind":"Job","metadata":{"name":"x"}}`}, `a.yaml: document 1: is not valid JSON: duplicate field "kind": correct it`},
		"the right file because of another": {[]string{job, "kind: Job"}, "b.yaml: document 1: apiVersion: is missing: for a Job write apiVersion: batch/v1"},
		"a number beyond 32 bits":           {[]string{strings.Replace(job, "spec:\n", "spec:\n  parallelism: 9999999999\n", 1)}, "a.yaml: document 1: spec.parallelism: 9999999999 is not a whole number of 32 bits: write a smaller whole number"},
		"a misspelt header":                 {[]string{strings.Replace(job, "apiVersion", "apiversion", 1)}, `a.yaml: document 1: apiVersion: is missing: did you mean it by "apiversion"?`},
		"options, which are no objects":     {[]string{"{apiVersion: v1, kind: DeleteOptions}"}, "a.yaml: document 1: kind: DeleteOptions is not an object that can be created: run the objects themselves"},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects, err := read(t, tc.files...)
			if err == nil {
				t.Fatalf("got %d objects", len(objects))
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// All problems of a file are reported at once, in the order of the file.
func TestReadReportsAllProblems(t *testing.T) {
	_, err := Read(t.Context(), Sources{Files: []string{"testdata/bad.yaml", "testdata/empty", "testdata/none.yaml", os.DevNull}, Stdin: strings.NewReader("")})
	golden := filepath.Join("testdata", "bad.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, readErr := os.ReadFile(golden)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if diff := cmp.Diff(string(want), err.Error()+"\n"); diff != "" {
		t.Error(diff)
	}
}

func TestReadBoundsFiles(t *testing.T) {
	large := bytes.Repeat([]byte("# padding\n"), MaxFileSize/10+1)
	if _, err := Read(t.Context(), Sources{Files: []string{"-"}, Stdin: bytes.NewReader(large)}); err == nil || !strings.Contains(err.Error(), "larger than 8 MiB") {
		t.Errorf("standard input of %d bytes: %v", len(large), err)
	}
	file := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(file, large, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), Sources{Files: []string{file}, Stdin: nil}); err == nil || !strings.Contains(err.Error(), "larger than 8 MiB") {
		t.Errorf("file of %d bytes: %v", len(large), err)
	}
	if _, err := Read(t.Context(), Sources{Files: []string{"-", "-"}, Stdin: strings.NewReader(job)}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("standard input named twice: %v", err)
	}
}

func TestInNamespace(t *testing.T) {
	scope := func(gvk schema.GroupVersionKind) (bool, error) {
		if gvk.Kind == "Secret" {
			return false, &meta.NoKindMatchError{GroupKind: gvk.GroupKind()}
		}
		return gvk.Kind != "Namespace", nil
	}
	inB := strings.Replace(job, "name: pi", "name: pi\n  namespace: b", 1)
	for sentence, tc := range map[string]struct {
		text     string
		demanded bool
		want     []string
		wrong    string
	}{
		"an open namespace is filled in":                {job, false, []string{"a"}, ""},
		"a named one stays":                             {inB, false, []string{"b"}, ""},
		"a named one that contradicts -n is refused":    {inB, true, nil, `is "b", but -n asks for "a"`},
		"what lives in no namespace gets none":          {"{apiVersion: v1, kind: Namespace, metadata: {name: x}}", false, []string{""}, ""},
		"a kind that is not served is refused":          {"{apiVersion: v1, kind: Secret, metadata: {name: x}}", false, nil, "is not served here"},
		"two that become the same are refused":          {job + "---\n" + strings.Replace(job, "name: pi", "name: pi\n  namespace: a", 1), false, nil, "already"},
		"two of one name in two namespaces are allowed": {job + "---\n" + inB, false, []string{"a", "b"}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			objects, err := read(t, tc.text)
			if err != nil {
				t.Fatal(err)
			}
			err = InNamespace(objects, "a", tc.demanded, scope)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Fatalf("got %v, want %s", err, tc.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range objects {
				got = append(got, o.Typed.GetNamespace())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHashIsOfTheContent(t *testing.T) {
	hash := func(text string) string {
		objects, err := read(t, text)
		if err != nil {
			t.Fatal(err)
		}
		h, err := objects[0].Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	plain := hash(job)
	if commented := hash("# a comment\n" + job); commented != plain {
		t.Errorf("a comment changes the hash: %s, %s", plain, commented)
	}
	if other := hash(strings.Replace(job, "[perl]", "[python]", 1)); other == plain {
		t.Error("another command has the same hash")
	}
}

func FuzzParse(f *testing.F) {
	bad, err := os.ReadFile("testdata/bad.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{job, configMap, string(bad), `{"kind":"List","items":[{}]}`, "a: &x [*x]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		objects, problems := parse("f", []byte(text))
		if len(objects)+len(problems) == 0 {
			t.Error("neither an object nor a problem")
		}
		for _, p := range problems {
			if strings.Contains(p.String(), "\n") {
				t.Errorf("more than one line: %q", p.String())
			}
		}
		for _, o := range objects {
			if o.Name() == "*" {
				t.Error("an object without a name")
			}
		}
	})
}
