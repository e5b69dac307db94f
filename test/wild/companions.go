package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/cli/run/dirclaim"
)

// standInValue is the value of keys of ConfigMaps and Secrets that no manifest defines. Some are run as scripts.
const standInValue = "#!/bin/sh"

// assumed is what a pod expects to exist: service accounts, claims, and the keys of ConfigMaps and Secrets by their names.
type assumed struct {
	configMaps, secrets map[string]map[string]string
	accounts, claims    map[string]bool
}

// assumedBy finds what a Job's pod expects to exist.
func assumedBy(j *job) assumed {
	a := assumed{map[string]map[string]string{}, map[string]map[string]string{}, map[string]bool{}, map[string]bool{}}
	a.accounts[j.pod().ServiceAccountName] = true
	for _, c := range j.containers() {
		a.environment(c)
	}
	for _, v := range j.pod().Volumes {
		a.volume(v.ConfigMap, v.Secret)
		if v.PersistentVolumeClaim != nil {
			a.claims[v.PersistentVolumeClaim.ClaimName] = true
		}
		if v.ConfigMap != nil && len(v.ConfigMap.Items) == 0 {
			note(a.configMaps, v.ConfigMap.Name, subPathsOf(j, v.Name)...)
		}
		if v.Secret != nil && len(v.Secret.Items) == 0 {
			note(a.secrets, v.Secret.SecretName, subPathsOf(j, v.Name)...)
		}
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.ConfigMap != nil {
				note(a.configMaps, s.ConfigMap.Name, keysOf(s.ConfigMap.Items)...)
			}
			if s.Secret != nil {
				note(a.secrets, s.Secret.Name, keysOf(s.Secret.Items)...)
			}
		}
	}
	return a
}

func (a *assumed) environment(c *corev1.Container) {
	for _, e := range c.EnvFrom {
		if e.ConfigMapRef != nil {
			note(a.configMaps, e.ConfigMapRef.Name)
		}
		if e.SecretRef != nil {
			note(a.secrets, e.SecretRef.Name)
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
			note(a.configMaps, e.ValueFrom.ConfigMapKeyRef.Name, e.ValueFrom.ConfigMapKeyRef.Key)
		}
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			note(a.secrets, e.ValueFrom.SecretKeyRef.Name, e.ValueFrom.SecretKeyRef.Key)
		}
	}
}

func (a *assumed) volume(c *corev1.ConfigMapVolumeSource, s *corev1.SecretVolumeSource) {
	if c != nil {
		note(a.configMaps, c.Name, keysOf(c.Items)...)
	}
	if s != nil {
		note(a.secrets, s.SecretName, keysOf(s.Items)...)
	}
}

// subPathsOf returns the files of a volume that containers mount by themselves.
func subPathsOf(j *job, volume string) []string {
	var paths []string
	for _, c := range j.containers() {
		for _, m := range c.VolumeMounts {
			if m.Name == volume && m.SubPath != "" {
				paths = append(paths, m.SubPath)
			}
		}
	}
	return paths
}

func keysOf(items []corev1.KeyToPath) []string {
	var keys []string
	for _, i := range items {
		keys = append(keys, i.Key)
	}
	return keys
}

func note(all map[string]map[string]string, name string, keys ...string) {
	if all[name] == nil {
		all[name] = map[string]string{"assumed": standInValue}
	}
	for _, k := range keys {
		all[name][k] = standInValue
	}
}

// make creates the objects that do not exist yet.
func (a *assumed) make(ctx context.Context, s *server, namespace string) error {
	for name, data := range a.configMaps {
		err := a.makeConfigMap(ctx, s, namespace, name, data)
		if err != nil {
			return fmt.Errorf("config map %q: %w", name, err)
		}
	}
	for name, data := range a.secrets {
		o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: data}
		if _, err := s.CoreV1().Secrets(namespace).Create(ctx, o, metav1.CreateOptions{}); isFailure(err) {
			return fmt.Errorf("secret %q: %w", name, err)
		}
	}
	for name := range a.accounts {
		o := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := s.CoreV1().ServiceAccounts(namespace).Create(ctx, o, metav1.CreateOptions{}); name != "" && isFailure(err) {
			return fmt.Errorf("service account %q: %w", name, err)
		}
	}
	return a.makeClaims(ctx, s, namespace)
}

// makeClaims makes the claims of directories, as stint run --claim does.
func (a *assumed) makeClaims(ctx context.Context, s *server, namespace string) error {
	for name := range a.claims {
		_, err := s.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil || !apierrors.IsNotFound(err) {
			continue // The file defines it, or the name is invalid.
		}
		c := dirclaim.Claim{Name: name, Dir: filepath.Join(s.claims, namespace, name), Flag: "claim " + name}
		if err := os.MkdirAll(c.Dir, 0o777); err != nil {
			return err
		}
		if err := os.Chmod(c.Dir, 0o777); err != nil { // The umask does not count: pods have users of their own.
			return err
		}
		if err := (dirclaim.Maker{Core: s.CoreV1()}).Make(ctx, namespace, c); err != nil {
			return err
		}
	}
	return nil
}

func (a *assumed) makeConfigMap(ctx context.Context, s *server, namespace, name string, data map[string]string) error {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
	_, err := s.CoreV1().ConfigMaps(namespace).Create(ctx, o, metav1.CreateOptions{})
	if isFailure(err) {
		return err
	}
	return nil
}

// isFailure reports whether a creation failed for another reason than that the object exists.
func isFailure(err error) bool { return err != nil && !apierrors.IsAlreadyExists(err) }
