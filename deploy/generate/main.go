// Generate writes the Helm chart from the manifests, so that rights and settings are maintained in one place.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:generate go run .

// Folders, relative to this one, where go generate runs.
const (
	manifests = ".."
	chart     = "../chart"
)

func main() {
	if err := write(manifests, chart); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write generates the files of the chart.
func write(manifests, chart string) error {
	same := func(s string) (string, error) { return s, nil }
	for to, part := range map[string]struct {
		from string
		of   func(string) (string, error)
	}{
		"templates/stint.yaml":              {"stint.yaml", controller},
		"templates/cronjob.yaml":            {"cronjob.yaml", cronJobRights},
		"crds/stint.dev_scheduledjobs.yaml": {"crds/stint.dev_scheduledjobs.yaml", same},
		"crds/stint.dev_resultslices.yaml":  {"crds/stint.dev_resultslices.yaml", same},
	} {
		text, err := os.ReadFile(filepath.Join(manifests, part.from))
		if err != nil {
			return err
		}
		made, err := part.of(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", part.from, err)
		}
		if err := os.WriteFile(filepath.Join(chart, to), []byte(made), 0o644); err != nil {
			return err
		}
	}
	return nil
}

const note = "# Made of deploy/%s by go generate ./deploy/generate.\n"

// controller replaces settings by values of the chart, and leaves out the namespace, which Helm creates.
func controller(manifest string) (string, error) {
	_, manifest, found := strings.Cut(manifest, "\n---\n")
	if !found || strings.Contains(manifest, "kind: Namespace") {
		return "", fmt.Errorf("the first document, and no other, must be the namespace")
	}
	for _, r := range []struct{ text, value string }{
		{"replicas: 2\n", "replicas: {{ .Values.replicas }}\n"},
		{"serviceAccountName: stint-controller\n", "serviceAccountName: stint-controller\n" + optional("imagePullSecrets") + optional("nodeSelector") + optional("tolerations")},
		{"image: stint:latest # built from deploy/Dockerfile\n", "image: {{ .Values.image }}\n"},
		{"imagePullPolicy: IfNotPresent\n", "imagePullPolicy: {{ .Values.imagePullPolicy }}\n"},
		{"- --managed-by=stint.dev/job-controller\n", "- --managed-by={{ join \",\" .Values.managedBy }}\n"},
		{"- --controllers=*\n", "- --controllers={{ join \",\" .Values.controllers }}\n"},
		{"- --metrics-bind-address=:8080\n", "- --metrics-bind-address=:8080\n        {{- range .Values.args }}\n        - {{ toJson . }}\n        {{- end }}\n"},
		{"\n          requests: {cpu: 100m, memory: 64Mi}\n", " {{ toJson .Values.resources }}\n"},
	} {
		if strings.Count(manifest, r.text) != 1 {
			return "", fmt.Errorf("%q must be there once, to be replaced by %q", r.text, r.value)
		}
		manifest = strings.Replace(manifest, r.text, r.value, 1)
	}
	return fmt.Sprintf(note, "stint.yaml") + inNamespace(manifest), nil
}

// optional returns a template for a field of the pod that is set only if its value is.
func optional(field string) string {
	return fmt.Sprintf("      {{- with .Values.%s }}\n      %s: {{ toJson . }}\n      {{- end }}\n", field, field)
}

// cronJobRights returns rights that are granted only if the CronJob controller is enabled.
func cronJobRights(manifest string) (string, error) {
	return "{{- if has \"cronjob\" .Values.controllers }}\n" + fmt.Sprintf(note, "cronjob.yaml") + inNamespace(manifest) + "{{- end }}\n", nil
}

func inNamespace(manifest string) string {
	return strings.ReplaceAll(manifest, "stint-system", "{{ .Release.Namespace }}")
}
