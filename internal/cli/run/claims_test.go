package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/run/dirclaim"
	"github.com/stint-dev/stint/internal/cli/target"
)

// usingClaims are two Jobs that use a claim data, each in a namespace of its own, and a claim that is defined.
const usingClaims = `
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: one}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, {name: w, emptyDir: {}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: b, namespace: two}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}, {name: w, persistentVolumeClaim: {claimName: own}}]}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: own, namespace: two}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

func TestPlanClaims(t *testing.T) {
	for sentence, tc := range map[string]struct {
		name  string
		kind  target.Kind
		want  []string
		wrong string
	}{
		"a claim is made in each namespace that names it": {"data", target.Embedded, []string{"one", "two"}, ""},
		"a claim that no pod names is probably misspelt":  {"date", target.Local, nil, "no pod of the files has a volume of a claim date: they name data, own"},
		"the files define the claim themselves":           {"own", target.Local, nil, "leave out the flag, or the claim"},
		"a cluster has other machines":                    {"data", target.Cluster, nil, "create a PersistentVolumeClaim there"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := &submitter{connection: &connection{target: &target.Target{Kind: tc.kind, Config: &rest.Config{}}},
				asked: []dirclaim.Claim{{Name: tc.name, Flag: "--claim " + tc.name + "=."}}}
			err := s.planClaims(objectsOf(t, usingClaims))
			if (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("error %v, want %q", err, tc.wrong)
			}
			var namespaces []string
			for _, c := range s.claims {
				namespaces = append(namespaces, c.namespace)
			}
			if diff := cmp.Diff(tc.want, namespaces); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestClaimsComeAfterWhatTheyNeed(t *testing.T) {
	var got []string
	for _, o := range supportInOrder(objectsOf(t, usingClaims+`---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: s}
---
apiVersion: v1
kind: Namespace
metadata: {name: one}
`)) {
		got = append(got, o.GVK.Kind)
	}
	want := []string{"Namespace", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "ConfigMap"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func objectsOf(t *testing.T, text string) []*manifest.Object {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Read(t.Context(), manifest.Sources{Files: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}
