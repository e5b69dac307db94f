package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	batchv1beta1 "k8s.io/api/batch/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	cronjob "github.com/stint-dev/stint/internal/cronjob/v1beta1"
)

// decode checks one document. A List becomes its items.
func decode(d document) ([]*Object, Problems) {
	tree, err := parseTree(d.json)
	if err != nil {
		return nil, Problems{{Place: d.Place, Message: err.Error(), Remedy: "correct the syntax"}}
	}
	body, ok := tree.(map[string]any)
	if !ok {
		return nil, Problems{{Place: d.Place, Message: "is " + describe(tree) + ", not an object",
			Remedy: "begin it with apiVersion and kind"}}
	}
	if items, isList := body["items"].([]any); isList && strings.HasSuffix(text(body["kind"]), "List") {
		return decodeItems(d.Place, items)
	}
	o, problems := decodeObject(d.Place, body)
	if len(problems) > 0 {
		return nil, problems
	}
	return []*Object{o}, nil
}

func decodeItems(at Place, items []any) ([]*Object, Problems) {
	var objects []*Object
	var problems Problems
	for i, item := range items {
		at.Item = fmt.Sprintf("items[%d]", i)
		body, ok := item.(map[string]any)
		if !ok {
			problems = append(problems, Problem{Place: at, Message: "is " + describe(item) + ", not an object",
				Remedy: "begin it with apiVersion and kind"})
			continue
		}
		o, wrong := decodeObject(at, body)
		problems = append(problems, wrong...)
		if len(wrong) == 0 {
			objects = append(objects, o)
		}
	}
	return objects, problems
}

func decodeObject(at Place, body map[string]any) (*Object, Problems) {
	gvk, problems := identify(at, body)
	if len(problems) > 0 {
		return nil, problems
	}
	empty, err := newObject(gvk)
	if err != nil {
		return nil, Problems{unknownKind(at, gvk)}
	}
	typed, ok := empty.(metav1.Object)
	if !ok {
		return nil, Problems{{Place: at, Field: "kind", Message: fmt.Sprintf("%s is not an object that can be created", gvk.Kind),
			Remedy: "run the objects themselves"}}
	}
	problems = checkFields(at, body, reflect.TypeOf(empty).Elem())
	if len(problems) > 0 {
		return nil, problems
	}
	if err := fill(empty, body); err != nil {
		return nil, Problems{{Place: at, Message: err.Error()}}
	}
	gvk, typed = current(gvk, typed)
	o := &Object{Place: at, GVK: gvk, Typed: typed, Body: body}
	return o, append(named(o), badNamespace(o)...)
}

func fill(into any, body map[string]any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, into)
}

func named(o *Object) Problems {
	if o.Typed.GetName() != "" || o.Typed.GetGenerateName() != "" {
		return nil
	}
	return Problems{{Place: o.Place, Field: "metadata.name", Message: "is missing",
		Remedy: "name the " + o.GVK.Kind + ", or set metadata.generateName and let the server complete the name"}}
}

// identify reads apiVersion and kind.
func identify(at Place, body map[string]any) (schema.GroupVersionKind, Problems) {
	var problems Problems
	for _, field := range []string{"apiVersion", "kind"} {
		switch value := body[field].(type) {
		case string:
			if value != "" {
				continue
			}
		case nil:
		default:
			problems = append(problems, Problem{Place: at, Field: field, Message: "is " + describe(value) + ", not text",
				Remedy: "put it in quotes"})
			continue
		}
		problems = append(problems, Problem{Place: at, Field: field, Message: "is missing", Remedy: missingHeader(field, body)})
	}
	if len(problems) > 0 {
		return schema.GroupVersionKind{}, problems
	}
	gv, err := schema.ParseGroupVersion(text(body["apiVersion"]))
	if err != nil {
		return schema.GroupVersionKind{}, Problems{{Place: at, Field: "apiVersion", Message: "is not GROUP/VERSION",
			Remedy: "for a Job write batch/v1"}}
	}
	return gv.WithKind(text(body["kind"])), nil
}

func missingHeader(field string, body map[string]any) string {
	known := []string{"apiVersion", "kind", "metadata", "spec"}
	for key := range body {
		if Closest(key, known) == field && key != field {
			return fmt.Sprintf("did you mean it by %q?", key)
		}
	}
	if field == "kind" {
		return "for a Job write kind: Job"
	}
	return "for a Job write apiVersion: batch/v1"
}

// unknownKind is the problem of a kind that does not exist. It suggests the right apiVersion or a similar kind.
func unknownKind(at Place, gvk schema.GroupVersionKind) Problem {
	wrong := fmt.Sprintf("no kind %q in %s", gvk.Kind, gvk.GroupVersion())
	if versions := versionsOf(gvk.Kind); len(versions) > 0 {
		return Problem{Place: at, Field: "apiVersion", Message: wrong,
			Remedy: "write apiVersion: " + strings.Join(versions, " or ")}
	}
	var kinds []string
	for kind := range scheme.Scheme.KnownTypes(gvk.GroupVersion()) {
		kinds = append(kinds, kind)
	}
	if len(kinds) == 0 {
		kinds = []string{"Job", "ConfigMap", "Secret", "Namespace", "Pod", "ServiceAccount", "PersistentVolumeClaim", "PersistentVolume", "PodTemplate", "CronJob", "ScheduledJob"}
	}
	remedy := "stint run accepts Jobs and the objects that they need (ConfigMap, Secret, PersistentVolumeClaim, Namespace)"
	if near := Closest(gvk.Kind, kinds); near != "" {
		remedy = "did you mean " + near + "?"
	}
	return Problem{Place: at, Field: "kind", Message: wrong, Remedy: remedy}
}

// own has the kinds that only Stint has.
var own = ownKinds()

func ownKinds() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(stintv1.AddToScheme(s))
	utilruntime.Must(s.SetVersionPriority(stintv1.SchemeGroupVersion))
	return s
}

func newObject(gvk schema.GroupVersionKind) (runtime.Object, error) {
	if gvk == oldJob {
		return &v1beta1.Job{}, nil
	}
	if own.Recognizes(gvk) {
		return own.New(gvk)
	}
	return scheme.Scheme.New(gvk)
}

// oldJob is the Job of old manifests. It is in no scheme, so that no error suggests it.
var oldJob = v1beta1.SchemeGroupVersion.WithKind("Job")

// current converts an object of an old version to the current one, which every server has.
func current(gvk schema.GroupVersionKind, obj metav1.Object) (schema.GroupVersionKind, metav1.Object) {
	now := batchv1.SchemeGroupVersion.WithKind(gvk.Kind)
	switch old := obj.(type) {
	case *v1beta1.Job:
		v1beta1.SetDefaultSelector(&old.Spec)
		job := &batchv1.Job{}
		v1beta1.ToBatch(old, job)
		job.SetGroupVersionKind(now)
		return now, job
	case *batchv1beta1.CronJob:
		cronJob := &batchv1.CronJob{}
		cronjob.ToBatch(old, cronJob)
		cronJob.SetGroupVersionKind(now)
		return now, cronJob
	}
	return gvk, obj
}

func versionsOf(kind string) []string {
	var versions []string
	for _, s := range []*runtime.Scheme{own, scheme.Scheme} {
		for _, gv := range s.PrioritizedVersionsAllGroups() {
			if s.Recognizes(gv.WithKind(kind)) {
				versions = append(versions, gv.String())
			}
		}
	}
	if len(versions) > 1 {
		return versions[:1] // the preferred one
	}
	return versions
}

// parseTree parses JSON, and keeps numbers as they are written.
func parseTree(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("is not valid JSON: %w", err)
	}
	return tree, nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
