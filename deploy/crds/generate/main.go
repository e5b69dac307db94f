// Generate writes the CustomResourceDefinitions of ScheduledJobs and ResultSlices: the output of controller-gen for
// api/stint/v1, changed so that kubectl can apply it and so that it validates as stint server does.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:generate go run .

// The paths are relative to this folder, where go generate runs.
const (
	tools = "-modfile=../../../tools/generate/go.mod"
	types = "../../../api/stint/v1"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	cmd := exec.Command("go", "tool", tools, "controller-gen",
		"crd:generateEmbeddedObjectMeta=true", "paths="+types, "output:stdout")
	cmd.Stderr = os.Stderr
	generated, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("controller-gen: %w", err)
	}
	for name, trim := range map[string]func(node){"scheduledjobs": trim, "resultslices": func(node) {}} {
		definition, err := pick(generated, name)
		if err != nil {
			return err
		}
		trim(definition)
		text, err := yaml.Marshal(definition)
		if err != nil {
			return err
		}
		file := fmt.Sprintf("../stint.dev_%s.yaml", name)
		if err := os.WriteFile(file, append([]byte("# Made by go generate: do not edit.\n"), text...), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pick returns one definition. controller-gen writes further ones, such as that of ScheduledJobRuns, for types that are
// never stored.
func pick(generated []byte, name string) (node, error) {
	for document := range bytes.SplitSeq(generated, []byte("\n---\n")) {
		var definition node
		if err := yaml.Unmarshal(document, &definition); err != nil {
			return nil, err
		}
		if at(definition, "metadata")["name"] == name+".stint.dev" {
			return definition, nil
		}
	}
	return nil, fmt.Errorf("controller-gen wrote no definition of %s", name)
}

func trim(definition node) {
	version := at(definition, "spec")["versions"].([]any)[0].(node)
	schema := at(version, "schema", "openAPIV3Schema")
	spec := at(schema, "properties", "spec", "properties")
	bare(at(spec, "template"))
	bare(at(spec, "templateRef"))
	for name, property := range at(schema, "properties", "status", "properties") {
		if strings.HasSuffix(name, "Executions") {
			bare(at(property, "items", "properties", "overrides", "properties", "env"))
		}
	}
	bound(schema)
}

// Patterns for names and values of labels.
const (
	label      = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	subdomain  = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	labelValue = `^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
)

// bound adds limits that Kubernetes' types do not have. Without them the API server would reject the validation rules as too
// expensive; with them it reports mistakes at once.
func bound(schema node) {
	at(schema, "properties")["metadata"] = node{
		"type":       "object",
		"properties": node{"name": node{"type": "string", "maxLength": 45}},
	}
	spec := at(schema, "properties", "spec", "properties")
	timeSpec := at(spec, "schedule", "properties", "timeSpec")
	timeSpec["x-kubernetes-validations"] = append(timeSpec["x-kubernetes-validations"].([]any), timeSpecRules()...)
	selector := at(spec, "selector", "properties")
	at(selector, "matchLabels")["maxProperties"] = 64
	at(selector, "matchExpressions", "items", "properties", "operator")["enum"] = []any{"In", "NotIn", "Exists", "DoesNotExist"}
	template := at(spec, "template", "properties")
	for _, labels := range []node{at(selector, "matchLabels"), at(template, "metadata", "properties", "labels")} {
		value := at(labels, "additionalProperties")
		value["maxLength"], value["pattern"] = 63, labelValue
	}
	pods := at(template, "spec", "properties")
	at(pods, "containers")["minItems"] = 1
	at(pods, "activeDeadlineSeconds")["minimum"] = 1
	for _, list := range []string{"containers", "initContainers"} {
		container := at(pods, list, "items")
		container["required"] = []any{"name", "image"}
		name := at(container, "properties", "name")
		name["maxLength"], name["pattern"] = 63, label
	}
	ref := at(spec, "templateRef")
	ref["required"] = []any{"name"}
	at(ref, "properties", "name")["pattern"] = subdomain
}

// bare removes from the schema of one of Kubernetes' own types, below its topmost node:
//   - descriptions, which would make the definition too large for kubectl apply;
//   - defaults, as the template is stored as it was written, and defaulted when it becomes a Job. The keys of lists keep
//     their defaults: server-side apply finds elements by them;
//   - sets, which would refuse a repeated value. A Job does not.
func bare(schema node) {
	if schema["x-kubernetes-list-type"] == "set" {
		schema["x-kubernetes-list-type"] = "atomic"
	}
	keys, _ := schema["x-kubernetes-list-map-keys"].([]any)
	for key, value := range schema {
		inner, ok := value.(node)
		switch {
		case !ok:
		case key == "properties":
			for _, property := range inner {
				bareField(property.(node), nil)
			}
		default:
			bareField(inner, keys)
		}
	}
}

func bareField(schema node, keys []any) {
	kept := map[any]any{}
	for _, key := range keys {
		kept[key] = at(schema, "properties", key.(string))["default"]
	}
	delete(schema, "description")
	delete(schema, "default")
	bare(schema)
	for key, value := range kept {
		if value != nil {
			at(schema, "properties", key.(string))["default"] = value
		}
	}
}

type node = map[string]any

// at returns the node at the end of a path of keys.
func at(from any, keys ...string) node {
	for _, key := range keys {
		from = from.(node)[key]
	}
	return from.(node)
}
