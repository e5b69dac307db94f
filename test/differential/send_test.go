package differential_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// contentTypes of the requests. A text is sent as YAML, which JSON is too.
var contentTypes = map[request]string{
	create:         "application/yaml",
	update:         "application/yaml",
	replace:        "application/yaml",
	jsonPatch:      "application/json-patch+json",
	mergePatch:     "application/merge-patch+json",
	strategicPatch: "application/strategic-merge-patch+json",
	apply:          "application/apply-patch+yaml",
	applyNew:       "application/apply-patch+yaml",
	remove:         "application/json",
	table:          "application/json",
}

var methods = map[request]string{
	create:         http.MethodPost,
	update:         http.MethodPut,
	replace:        http.MethodPut,
	jsonPatch:      http.MethodPatch,
	mergePatch:     http.MethodPatch,
	strategicPatch: http.MethodPatch,
	apply:          http.MethodPatch,
	applyNew:       http.MethodPatch,
	remove:         http.MethodDelete,
	table:          http.MethodGet,
}

// scene is a section on one server: its base, and what is stored of it.
type scene struct {
	*section
	server *endpoint
	base   map[string]any
	// stored is the object as the server returns it; nil where the request is a creation.
	stored map[string]any
	// path is that of the object, or of all objects where the request is a creation.
	path string
}

// collections are the paths of the kinds, in NAMESPACE where they have one.
var collections = map[string]string{
	"Job":          "/apis/batch/v1/namespaces/NAMESPACE/jobs",
	"CronJob":      "/apis/batch/v1/namespaces/NAMESPACE/cronjobs",
	"Pod":          "/api/v1/namespaces/NAMESPACE/pods",
	"PodTemplate":  "/api/v1/namespaces/NAMESPACE/podtemplates",
	"ScheduledJob": "/apis/stint.dev/v1/namespaces/NAMESPACE/scheduledjobs",
	"ResultSlice":  "/apis/stint.dev/v1/namespaces/NAMESPACE/resultslices",

	"PersistentVolume":      "/api/v1/persistentvolumes",
	"PersistentVolumeClaim": "/api/v1/namespaces/NAMESPACE/persistentvolumeclaims",
	"StorageClass":          "/apis/storage.k8s.io/v1/storageclasses",
}

func collection(kind any, namespace string) string {
	return strings.Replace(collections[kind.(string)], "NAMESPACE", namespace, 1)
}

// newScene stores what the section needs. Each section has a namespace, so that objects of different sections do not
// meet; those of kinds without namespaces have the name instead.
func newScene(server *endpoint, s *section, base any, namespace string) (*scene, error) {
	object, err := changed(base, s.With)
	if err != nil {
		return nil, err
	}
	c := &scene{section: s, server: server, base: object.(map[string]any)}
	switch s.Request {
	case create:
		c.path = collection(c.base["kind"], "default")
		return c, nil
	case applyNew:
		c.path = collection(c.base["kind"], "default") + "/" + c.name()
		return c, nil
	}
	c.path = collection(c.base["kind"], namespace)
	if c.path == collection(c.base["kind"], "another") {
		c.base = merged(c.base, map[string]any{"metadata": map[string]any{"name": namespace}}).(map[string]any)
	}
	return c, c.store(namespace)
}

func (c *scene) store(namespace string) (err error) {
	_, err = c.server.want(call{method: http.MethodPost, path: "/api/v1/namespaces", contentType: "application/json",
		body: encode(map[string]any{"metadata": map[string]any{"name": namespace}})})
	if err != nil {
		return err
	}
	creation := call{method: http.MethodPost, path: c.path, contentType: "application/json",
		query: map[string]string{"fieldManager": "creator"}, body: encode(c.base)}
	c.path += "/" + c.name()
	if c.AppliedBy != "" {
		creation.method, creation.path, creation.contentType = http.MethodPatch, c.path, contentTypes[apply]
		creation.query["fieldManager"] = c.AppliedBy
	}
	if c.stored, err = c.server.want(creation); err != nil {
		return err
	}
	if c.EphemeralContainers != nil {
		err = c.patch("ephemeralcontainers", "debugger", map[string]any{"spec": map[string]any{"ephemeralContainers": c.EphemeralContainers}})
	}
	if err == nil && c.Status != nil {
		err = c.patch("status", "controller", map[string]any{"status": c.Status})
	}
	return err
}

// patch changes the stored object through a subresource.
func (c *scene) patch(subresource, manager string, change any) (err error) {
	c.stored, err = c.server.want(call{method: http.MethodPatch, path: c.path + "/" + subresource,
		contentType: contentTypes[mergePatch], query: map[string]string{"fieldManager": manager}, body: encode(change)})
	return err
}

// send makes the request of one case: a dry run, unless the section is wet.
func (c *scene) send(change any) (reply, error) {
	body, err := c.body(change)
	if err != nil {
		return reply{}, err
	}
	out := call{path: c.path, contentType: contentTypes[c.Request], body: body, query: map[string]string{}}
	if !c.wet {
		out.query["dryRun"] = "All"
	}
	maps.Copy(out.query, c.Query)
	out.method = methods[c.Request]
	if c.Request == table {
		out.accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
		out.query["includeObject"] = "None"
	}
	if contentTypes[c.Request] == contentTypes[apply] && out.query["fieldManager"] == "" {
		out.query["fieldManager"] = "applier"
	}
	if c.Subresource != "" {
		out.path += "/" + c.Subresource
	}
	r, err := c.server.do(out)
	if err == nil {
		err = c.keep(r)
	}
	if c.stored != nil {
		r.body = bytes.ReplaceAll(r.body, []byte(c.uid()), []byte("UID"))
	}
	return r, err
}

func (c *scene) name() string { return c.base["metadata"].(map[string]any)["name"].(string) }

func (c *scene) uid() string { return c.stored["metadata"].(map[string]any)["uid"].(string) }

// body returns the text that is sent. A change that is a text is the body itself.
func (c *scene) body(change any) (body []byte, err error) {
	if text, ok := change.(string); ok {
		return c.filledIn([]byte(text)), nil
	}
	object := change
	switch c.Request {
	case create, replace, applyNew:
		object, err = changed(c.base, change)
	case update:
		object, err = changed(c.stored, change)
	case apply:
		object, err = changed(map[string]any{"apiVersion": c.base["apiVersion"], "kind": c.base["kind"],
			"metadata": map[string]any{"name": c.name()}}, change)
	}
	return c.filledIn(encode(object)), err
}

// filledIn replaces $(uid) and $(resourceVersion) by those of the stored object.
func (c *scene) filledIn(body []byte) []byte {
	if c.stored == nil {
		return body
	}
	metadata := c.stored["metadata"].(map[string]any)
	return []byte(strings.NewReplacer(
		"$(uid)", c.uid(),
		"$(resourceVersion)", metadata["resourceVersion"].(string),
	).Replace(string(body)))
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // It was read from YAML or JSON.
	}
	return text
}
