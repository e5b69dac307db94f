package persistentvolume

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// Volumes and claims that no pod of the node could use are refused at creation. A server without a node accepts what
// Kubernetes accepts.

func refuseVolume(s *corev1.PersistentVolumeSpec, o pod.Options) field.ErrorList {
	if o.Node == nil {
		return nil
	}
	p := field.NewPath("spec")
	errs := refuseBlock(s.VolumeMode, p.Child("volumeMode"))
	for _, kind := range sourcesOf(&s.PersistentVolumeSource) {
		if kind != "hostPath" && kind != "local" {
			errs = append(errs, field.Forbidden(p.Child(kind), pod.MountItYourself))
		}
	}
	if s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(p.Child("persistentVolumeReclaimPolicy"), "volumes are not recycled here: use Retain"))
	}
	if len(s.MountOptions) > 0 {
		errs = append(errs, field.Forbidden(p.Child("mountOptions"), "a directory of this machine is shown as it is: remove it"))
	}
	return errs
}

func refuseClaim(s *corev1.PersistentVolumeClaimSpec, o pod.Options) field.ErrorList {
	if o.Node == nil {
		return nil
	}
	p := field.NewPath("spec")
	errs := refuseBlock(s.VolumeMode, p.Child("volumeMode"))
	for _, f := range []struct {
		name string
		set  bool
	}{{"dataSource", s.DataSource != nil}, {"dataSourceRef", s.DataSourceRef != nil && s.DataSource == nil}} {
		if f.set {
			errs = append(errs, field.Forbidden(p.Child(f.name), pod.NoDataSources))
		}
	}
	return errs
}

func refuseBlock(mode *corev1.PersistentVolumeMode, p *field.Path) field.ErrorList {
	if ptr.Deref(mode, "") == corev1.PersistentVolumeBlock {
		return field.ErrorList{field.Forbidden(p, pod.NoBlockDevices)}
	}
	return nil
}

// sourcesOf returns the names of the kinds of volume that are set. A valid volume has one.
func sourcesOf(s *corev1.PersistentVolumeSource) []string {
	var kinds []string
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			kinds = append(kinds, name)
		}
	}
	return slices.Clip(kinds)
}
