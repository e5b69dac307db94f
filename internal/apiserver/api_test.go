package apiserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: data}
}

func configMaps(t testing.TB, r *running) typedcorev1.ConfigMapInterface {
	return r.clientset(t).CoreV1().ConfigMaps("default")
}

func TestEveryKindOfPatchIsUnderstood(t *testing.T) {
	r := start(t)
	maps := configMaps(t, r)
	cases := map[string]struct {
		kind  types.PatchType
		patch string
	}{
		"a JSON patch":            {types.JSONPatchType, `[{"op":"replace","path":"/data/a","value":"2"}]`},
		"a merge patch":           {types.MergePatchType, `{"data":{"a":"2"}}`},
		"a strategic merge patch": {types.StrategicMergePatchType, `{"data":{"a":"2"}}`},
		"a server-side apply":     {types.ApplyPatchType, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {a: \"2\"}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			object := strings.ReplaceAll(strings.ToLower(name), " ", "-")
			must[*corev1.ConfigMap](t)(maps.Create(t.Context(), configMap(object, map[string]string{"a": "1", "b": "1"}), metav1.CreateOptions{}))
			options := metav1.PatchOptions{}
			if c.kind == types.ApplyPatchType {
				options = metav1.PatchOptions{FieldManager: "test", Force: new(true)}
			}
			body := []byte(strings.ReplaceAll(c.patch, "NAME", object))
			got := must[*corev1.ConfigMap](t)(maps.Patch(t.Context(), object, c.kind, body, options))
			if diff := cmp.Diff(map[string]string{"a": "2", "b": "1"}, got.Data); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServerSideApplyKeepsTrackOfWhoOwnsWhat(t *testing.T) {
	r := start(t)
	maps := configMaps(t, r)
	ctx := t.Context()
	apply := func(manager, value string, force bool) error {
		config := corev1apply.ConfigMap("m", "default").WithData(map[string]string{"a": value})
		_, err := maps.Apply(ctx, config, metav1.ApplyOptions{FieldManager: manager, Force: force})
		return err
	}
	if err := apply("first", "1", false); err != nil {
		t.Fatalf("apply makes what is not there: %v", err)
	}
	if err := apply("second", "2", false); !apierrors.IsConflict(err) {
		t.Errorf("another's field: %v, want Conflict", err)
	}
	if err := apply("second", "2", true); err != nil {
		t.Errorf("by force: %v", err)
	}
	got := must[*corev1.ConfigMap](t)(maps.Get(ctx, "m", metav1.GetOptions{}))
	if len(got.ManagedFields) == 0 || got.Data["a"] != "2" {
		t.Errorf("data %v, managed fields %v", got.Data, got.ManagedFields)
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	r := start(t)
	maps := configMaps(t, r)
	ctx := t.Context()
	dry := []string{metav1.DryRunAll}
	must[*corev1.ConfigMap](t)(maps.Create(ctx, configMap("new", nil), metav1.CreateOptions{DryRun: dry}))
	if _, err := maps.Get(ctx, "new", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after a dry create: %v, want NotFound", err)
	}
	made := must[*corev1.ConfigMap](t)(maps.Create(ctx, configMap("m", nil), metav1.CreateOptions{}))
	changed := made.DeepCopy()
	changed.Data = map[string]string{"a": "1"}
	must[*corev1.ConfigMap](t)(maps.Update(ctx, changed, metav1.UpdateOptions{DryRun: dry}))
	if err := maps.Delete(ctx, "m", metav1.DeleteOptions{DryRun: dry}); err != nil {
		t.Fatal(err)
	}
	got := must[*corev1.ConfigMap](t)(maps.Get(ctx, "m", metav1.GetOptions{}))
	if got.ResourceVersion != made.ResourceVersion {
		t.Errorf("the version moved from %s to %s", made.ResourceVersion, got.ResourceVersion)
	}
}

func TestUnknownFieldsAreTreatedAsTheClientAsks(t *testing.T) {
	r := start(t)
	rest := r.clientset(t).CoreV1().RESTClient()
	body := func(name string) []byte {
		return []byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"dta":{"a":"1"}}`, name))
	}
	cases := map[string]struct {
		refused bool
		warns   bool
	}{
		"Strict": {refused: true}, "Warn": {warns: true}, "Ignore": {},
	}
	for validation, c := range cases {
		t.Run(validation, func(t *testing.T) {
			result := rest.Post().Namespace("default").Resource("configmaps").Param("fieldValidation", validation).
				Body(body(strings.ToLower(validation))).SetHeader("Content-Type", "application/json").Do(t.Context())
			if err := result.Error(); (err != nil) != c.refused {
				t.Errorf("error %v, want refused %v", err, c.refused)
			}
			if warned := len(result.Warnings()) > 0; warned != c.warns {
				t.Errorf("warnings %v, want some %v", result.Warnings(), c.warns)
			}
		})
	}
}

func TestListsComeInPagesAndBySelector(t *testing.T) {
	r := start(t)
	maps := configMaps(t, r)
	ctx := t.Context()
	for i := range 5 {
		m := configMap(fmt.Sprintf("m%d", i), nil)
		m.Labels = map[string]string{"odd": fmt.Sprint(i%2 == 1)}
		must[*corev1.ConfigMap](t)(maps.Create(ctx, m, metav1.CreateOptions{}))
	}
	var names []string
	options := metav1.ListOptions{Limit: 2}
	pages := 0
	for {
		page := must[*corev1.ConfigMapList](t)(maps.List(ctx, options))
		pages++
		for _, m := range page.Items {
			names = append(names, m.Name)
		}
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"m0", "m1", "m2", "m3", "m4"}, names); diff != "" || pages != 3 {
		t.Errorf("%d pages, names (-want +got):\n%s", pages, diff)
	}
	odd := must[*corev1.ConfigMapList](t)(maps.List(ctx, metav1.ListOptions{LabelSelector: "odd=true"}))
	named := must[*corev1.ConfigMapList](t)(maps.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=m3"}))
	if len(odd.Items) != 2 || len(named.Items) != 1 {
		t.Errorf("%d with the label, %d with the name", len(odd.Items), len(named.Items))
	}
	if _, err := maps.List(ctx, metav1.ListOptions{FieldSelector: "data.a=1"}); !apierrors.IsBadRequest(err) {
		t.Errorf("an unknown field: %v, want BadRequest", err)
	}
}

func TestPodsAreSelectedByFields(t *testing.T) {
	r := start(t)
	pods := r.clientset(t).CoreV1().Pods("default")
	here, nowhere := pod("here"), pod("nowhere")
	here.Spec.NodeName, here.Spec.HostNetwork = "n", true
	for _, p := range []*corev1.Pod{here, nowhere} {
		must[*corev1.Pod](t)(pods.Create(t.Context(), p, metav1.CreateOptions{}))
	}
	for selector, want := range map[string]string{
		"spec.nodeName=n,status.phase=Pending": "here",
		"spec.nodeName=":                       "nowhere",
		"spec.nodeName!=":                      "here",
		"spec.hostNetwork=false":               "nowhere",
		"spec.hostNetwork!=false":              "here",
		"spec.hostNetwork=true":                "here",
	} {
		list := must[*corev1.PodList](t)(pods.List(t.Context(), metav1.ListOptions{FieldSelector: selector}))
		if len(list.Items) != 1 || list.Items[0].Name != want {
			t.Errorf("%s selected %d pods, want only %s", selector, len(list.Items), want)
		}
	}
}

func TestGeneratedNamesStartWithThePrefixAndDiffer(t *testing.T) {
	r := start(t)
	maps := configMaps(t, r)
	m := configMap("", nil)
	m.GenerateName = "gen-"
	a := must[*corev1.ConfigMap](t)(maps.Create(t.Context(), m, metav1.CreateOptions{}))
	b := must[*corev1.ConfigMap](t)(maps.Create(t.Context(), m, metav1.CreateOptions{}))
	if !strings.HasPrefix(a.Name, "gen-") || a.Name == b.Name {
		t.Errorf("names %q and %q", a.Name, b.Name)
	}
	if _, err := maps.Create(t.Context(), configMap("Not_A_Name", nil), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("a bad name: %v, want Invalid", err)
	}
	if _, err := maps.Create(t.Context(), configMap("", nil), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("no name: %v, want Invalid", err)
	}
}

func TestPreconditionsAndVersionsAreHonoured(t *testing.T) {
	r := start(t)
	maps := configMaps(t, r)
	ctx := t.Context()
	made := must[*corev1.ConfigMap](t)(maps.Create(ctx, configMap("m", nil), metav1.CreateOptions{}))
	newer := made.DeepCopy()
	newer.Data = map[string]string{"a": "1"}
	newer = must[*corev1.ConfigMap](t)(maps.Update(ctx, newer, metav1.UpdateOptions{}))
	if _, err := maps.Update(ctx, made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old version: %v, want Conflict", err)
	}
	other := types.UID("other")
	for name, p := range map[string]*metav1.Preconditions{
		"another UID":    {UID: &other},
		"an old version": {ResourceVersion: &made.ResourceVersion},
	} {
		if err := maps.Delete(ctx, "m", metav1.DeleteOptions{Preconditions: p}); !apierrors.IsConflict(err) {
			t.Errorf("delete with %s: %v, want Conflict", name, err)
		}
	}
	right := &metav1.Preconditions{UID: &newer.UID, ResourceVersion: &newer.ResourceVersion}
	if err := maps.Delete(ctx, "m", metav1.DeleteOptions{Preconditions: right}); err != nil {
		t.Errorf("delete with what is stored: %v", err)
	}
}

func TestFinalizersHoldADeletion(t *testing.T) {
	r := start(t)
	maps := configMaps(t, r)
	ctx := t.Context()
	m := configMap("m", nil)
	m.Finalizers = []string{"example.com/hold"}
	must[*corev1.ConfigMap](t)(maps.Create(ctx, m, metav1.CreateOptions{}))
	if err := maps.Delete(ctx, "m", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	held := must[*corev1.ConfigMap](t)(maps.Get(ctx, "m", metav1.GetOptions{}))
	if held.DeletionTimestamp == nil {
		t.Error("no deletion timestamp")
	}
	must[*corev1.ConfigMap](t)(maps.Patch(ctx, "m", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))
	if _, err := maps.Get(ctx, "m", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get: %v, want NotFound", err)
	}
}

func TestPropagationLeavesTheFinalizerThatTheCollectorWaitsFor(t *testing.T) {
	cases := map[string]struct {
		propagation *metav1.DeletionPropagation
		want        []string
	}{
		"in the foreground": {new(metav1.DeletePropagationForeground), []string{metav1.FinalizerDeleteDependents}},
		"orphaning":         {new(metav1.DeletePropagationOrphan), []string{metav1.FinalizerOrphanDependents}},
		"a Job's default":   {nil, []string{metav1.FinalizerOrphanDependents}},
		"in the background": {new(metav1.DeletePropagationBackground), nil},
	}
	r := start(t)
	jobs := r.clientset(t).BatchV1().Jobs("default")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			object := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(name), " ", "-"), "'", "")
			if _, err := jobs.Create(t.Context(), job(object), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := jobs.Delete(t.Context(), object, metav1.DeleteOptions{PropagationPolicy: c.propagation}); err != nil {
				t.Fatal(err)
			}
			got, err := jobs.Get(t.Context(), object, metav1.GetOptions{})
			if c.want == nil {
				if !apierrors.IsNotFound(err) {
					t.Errorf("get: %v, want NotFound", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Finalizers); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
		})
	}
}
