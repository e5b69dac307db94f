package main

import (
	"encoding/json"
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// maxAnnotations is the size limit of an object's annotations, in bytes. kubectl apply stores the whole definition in one.
const maxAnnotations = 262_144

func TestTheDefinitionCanBeAppliedAndExplained(t *testing.T) {
	text, err := os.ReadFile("../stint.dev_scheduledjobs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var definition node
	if err := yaml.Unmarshal(text, &definition); err != nil {
		t.Fatal(err)
	}
	applied, err := json.Marshal(definition)
	if err != nil {
		t.Fatal(err)
	}
	if len(applied) > maxAnnotations/2 {
		t.Errorf("%d bytes: kubectl apply takes %d, and there shall be room for more", len(applied), maxAnnotations)
	}
	version := at(definition, "spec")["versions"].([]any)[0]
	spec := at(version, "schema", "openAPIV3Schema", "properties", "spec", "properties")
	for name, property := range spec {
		if description, _ := property.(node)["description"].(string); description == "" && name != "template" && name != "templateRef" {
			t.Errorf("kubectl explain has nothing to say about spec.%s", name)
		}
	}
}
