package pod

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// validateItems validates keys that become files.
func validateItems(items []corev1.KeyToPath, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, item := range items {
		errs = append(errs, requireName(item.Key, p.Index(i).Child("key"))...)
		errs = append(errs, validateFilePath(item.Path, p.Index(i).Child("path"))...)
		errs = append(errs, validateMode(item.Mode, p.Index(i).Child("mode"))...)
	}
	return errs
}

// validateDownwardFiles validates pod fields that become files.
func validateDownwardFiles(files []corev1.DownwardAPIVolumeFile, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range files {
		errs = append(errs, validateDownwardFile(&files[i], p.Index(i))...)
	}
	return errs
}

func validateDownwardFile(f *corev1.DownwardAPIVolumeFile, p *field.Path) field.ErrorList {
	errs := validateFilePath(f.Path, p.Child("path"))
	errs = append(errs, validateMode(f.Mode, p.Child("mode"))...)
	switch {
	case f.FieldRef != nil && f.ResourceFieldRef != nil:
		errs = append(errs, field.Invalid(p, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
	case f.FieldRef != nil:
		errs = append(errs, validateFieldRef(f.FieldRef, volumeFields, p.Child("fieldRef"))...)
	case f.ResourceFieldRef != nil:
		errs = append(errs, requireName(f.ResourceFieldRef.ContainerName, p.Child("resourceFieldRef", "containerName"))...)
		errs = append(errs, validateResourceFieldRef(f.ResourceFieldRef, p.Child("resourceFieldRef"))...)
	default:
		errs = append(errs, field.Required(p, "one of fieldRef and resourceFieldRef is required"))
	}
	return errs
}

// validateProjected validates a projected volume. Files of its sources must not have the same path.
func validateProjected(v *corev1.ProjectedVolumeSource, p *field.Path) field.ErrorList {
	errs := validateMode(v.DefaultMode, p.Child("defaultMode"))
	taken := sets.New[string]()
	for i := range v.Sources {
		s := &v.Sources[i]
		errs = append(errs, validateProjection(s, p.Child("sources").Index(i))...)
		for _, path := range projectedPaths(s) {
			if taken.Has(path) {
				errs = append(errs, field.Invalid(p, path, fmt.Sprintf("conflicting duplicate paths, in source %d", i)))
			}
			taken.Insert(path)
		}
	}
	return errs
}

// projectedPaths returns the paths of a source's files, except of tokens: Kubernetes accepts conflicts with them.
func projectedPaths(s *corev1.VolumeProjection) []string {
	var paths []string
	add := func(path string) {
		if path != "" {
			paths = append(paths, path)
		}
	}
	switch {
	case s.Secret != nil:
		for _, item := range s.Secret.Items {
			add(item.Path)
		}
	case s.ConfigMap != nil:
		for _, item := range s.ConfigMap.Items {
			add(item.Path)
		}
	case s.DownwardAPI != nil:
		for _, file := range s.DownwardAPI.Items {
			add(file.Path)
		}
	case s.ClusterTrustBundle != nil:
		add(s.ClusterTrustBundle.Path)
	case s.PodCertificate != nil:
		add(s.PodCertificate.CredentialBundlePath)
		add(s.PodCertificate.KeyPath)
		add(s.PodCertificate.CertificateChainPath)
	}
	return paths
}

func validateProjection(s *corev1.VolumeProjection, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	var kinds []string
	if s.Secret != nil {
		kinds = append(kinds, "secret")
		errs = append(errs, requireName(s.Secret.Name, p.Child("secret", "name"))...)
		errs = append(errs, validateItems(s.Secret.Items, p.Child("secret", "items"))...)
	}
	if s.ConfigMap != nil {
		kinds = append(kinds, "configMap")
		errs = append(errs, requireName(s.ConfigMap.Name, p.Child("configMap", "name"))...)
		errs = append(errs, validateItems(s.ConfigMap.Items, p.Child("configMap", "items"))...)
	}
	if s.DownwardAPI != nil {
		kinds = append(kinds, "downwardAPI")
		errs = append(errs, validateDownwardFiles(s.DownwardAPI.Items, p.Child("downwardAPI", "items"))...)
	}
	if s.ServiceAccountToken != nil {
		kinds = append(kinds, "serviceAccountToken")
		errs = append(errs, validateToken(s.ServiceAccountToken, p.Child("serviceAccountToken"))...)
	}
	if s.ClusterTrustBundle != nil {
		kinds = append(kinds, "clusterTrustBundle")
	}
	if s.PodCertificate != nil {
		kinds = append(kinds, "podCertificate")
	}
	if len(kinds) > 1 {
		errs = append(errs, field.Forbidden(p, fmt.Sprintf("may not specify more than 1 volume type per source, has %s", strings.Join(kinds, " and "))))
	}
	return errs
}

const (
	shortestToken = 10 * 60
	longestToken  = 1 << 32
)

func validateToken(t *corev1.ServiceAccountTokenProjection, p *field.Path) field.ErrorList {
	errs := validateFilePath(t.Path, p.Child("path"))
	if seconds := ptr.Deref(t.ExpirationSeconds, 0); seconds < shortestToken || seconds > longestToken {
		errs = append(errs, field.Invalid(p.Child("expirationSeconds"), seconds, validation.InclusiveRangeError(shortestToken, longestToken)))
	}
	return errs
}
