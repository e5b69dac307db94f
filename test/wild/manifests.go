package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// file is a file of manifests: its Jobs, and what else is in it.
type file struct {
	name       string
	jobs       []*job
	companions []*unstructured.Unstructured
}

// job is a Job or a CronJob, with its template's pod.
type job struct {
	object *unstructured.Unstructured
	spec   batchv1.JobSpec
}

func (j *job) pod() *corev1.PodSpec { return &j.spec.Template.Spec }

// containers returns all containers of the pod, in the order in which they start.
func (j *job) containers() []*corev1.Container {
	var all []*corev1.Container
	for _, list := range [][]corev1.Container{j.pod().InitContainers, j.pod().Containers} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// readManifests reads the files of a directory that match, as far as they hold Jobs.
func readManifests(dir string, only *regexp.Regexp) ([]*file, error) {
	if dir == "" {
		return nil, errors.New("-manifests is missing: name the directory of the manifests")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var files []*file
	for _, path := range paths {
		if !only.MatchString(filepath.Base(path)) {
			continue
		}
		f, err := readManifest(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("-manifests: no *.yaml in %s matches %q", dir, only)
	}
	return files, nil
}

func readManifest(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{name: filepath.Base(path)}
	for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) == 0 {
			continue
		}
		if err := f.add(object); err != nil {
			return nil, err
		}
	}
}

func (f *file) add(object *unstructured.Unstructured) error {
	path := []string{"spec"}
	switch {
	case object.IsList():
		return object.EachListItem(func(item runtime.Object) error { return f.add(item.(*unstructured.Unstructured)) })
	case object.GetKind() == "CronJob":
		path = []string{"spec", "jobTemplate", "spec"}
		_ = unstructured.SetNestedField(object.Object, true, "spec", "suspend")
	case object.GetKind() != "Job":
		f.companions = append(f.companions, object)
		return nil
	}
	j := &job{object: object}
	if spec, ok, _ := unstructured.NestedMap(object.Object, path...); ok {
		adapt(spec)
		if err := unstructured.SetNestedMap(object.Object, spec, path...); err != nil {
			return err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &j.spec); err != nil {
			return err
		}
	}
	f.jobs = append(f.jobs, j)
	return nil
}

// adapt changes the fields of a Job's spec that keep it from running here and have nothing to do with containers.
func adapt(spec map[string]any) {
	delete(spec, "suspend")
	delete(spec, "ttlSecondsAfterFinished")
	for _, list := range []string{"initContainers", "containers"} {
		containers, _, _ := unstructured.NestedSlice(spec, "template", "spec", list)
		for _, c := range containers {
			if c, ok := c.(map[string]any); ok {
				adaptContainer(c)
			}
		}
		if len(containers) > 0 {
			_ = unstructured.SetNestedSlice(spec, containers, "template", "spec", list)
		}
	}
}

func adaptContainer(c map[string]any) {
	if image, ok := c["image"].(string); ok {
		c["image"], _, _ = strings.Cut(image, "@")
	}
	for _, name := range []string{"cpu", "memory", "ephemeral-storage"} {
		unstructured.RemoveNestedField(c, "resources", "requests", name)
		if limits, ok, _ := unstructured.NestedMap(c, "resources", "limits"); ok && limits[name] != nil {
			// A limit is a request too where there is none.
			_ = unstructured.SetNestedField(c, "0", "resources", "requests", name)
		}
	}
}
