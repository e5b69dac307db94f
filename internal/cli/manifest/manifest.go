// Package manifest reads the files that a user gives to `stint run`: it splits them into documents, checks every
// document against the types of the Kubernetes API, and either returns all objects or reports all problems.
//
//	files → documents (YAML or JSON, several a file) → items of lists → checked objects
//
// It is stricter than an API server (an unknown field is an error with a suggestion, not a warning), because
// the user can correct the file. It sends no request to the API server, which checks the objects later.
package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
)

// Place is the position of an object in the input, for errors.
type Place struct {
	// File is the name as the user gave it; "-" is standard input.
	File string
	// Document counts from 1, empty documents not included.
	Document int
	// Item is the path of the object in a List, "items[2]", else empty.
	Item string
}

// Object is one checked object of a file.
type Object struct {
	Place
	GVK schema.GroupVersionKind
	// Typed is a pointer to the published Go type.
	Typed metav1.Object
	// Body has the fields that the file sets, without defaults.
	Body map[string]any
}

// Job returns the object as a Job.
func (o *Object) Job() (*batchv1.Job, bool) {
	j, ok := o.Typed.(*batchv1.Job)
	return j, ok
}

// Runtime returns the typed object for encoders.
func (o *Object) Runtime() runtime.Object {
	return o.Typed.(runtime.Object)
}

// TranslateError replaces field names of batch/v1 in a server's error by those of the version in the file.
func (o *Object) TranslateError(said string) string {
	if o.Body["apiVersion"] == v1beta1.SchemeGroupVersion.String() {
		return v1beta1.ConvertMessage(said)
	}
	return said
}

// Name returns the name, or the generateName followed by *.
func (o *Object) Name() string {
	if name := o.Typed.GetName(); name != "" {
		return name
	}
	return o.Typed.GetGenerateName() + "*"
}

// Hash identifies the content of a manifest whatever its formatting and comments.
func (o *Object) Hash() (string, error) {
	canonical, err := json.Marshal(o.Body) // map keys are sorted
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:16]), nil
}

// SetNamespace sets the namespace of an object whose file does not set one. Empty removes it.
func (o *Object) SetNamespace(namespace string) {
	o.Typed.SetNamespace(namespace)
	meta, ok := o.Body["metadata"].(map[string]any)
	if !ok {
		return
	}
	if namespace == "" {
		delete(meta, "namespace")
		return
	}
	meta["namespace"] = namespace
}
