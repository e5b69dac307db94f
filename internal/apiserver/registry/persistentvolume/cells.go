package persistentvolume

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// capacity returns the cell for a size; empty if there is none.
func capacity(list corev1.ResourceList) string {
	if size, set := list[corev1.ResourceStorage]; set {
		return size.String()
	}
	return ""
}

var shortMode = map[corev1.PersistentVolumeAccessMode]string{
	corev1.ReadWriteOnce: "RWO", corev1.ReadOnlyMany: "ROX", corev1.ReadWriteMany: "RWX", corev1.ReadWriteOncePod: "RWOP",
}

// shortModes returns the cell for access modes, each once.
func shortModes(modes []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, mode := range []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod} {
		if slices.Contains(modes, mode) {
			short = append(short, shortMode[mode])
		}
	}
	return strings.Join(short, ",")
}

// phaseOf returns the cell for a phase: an object that is being deleted is Terminating.
func phaseOf(obj metav1.Object, phase string) string {
	if obj.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return phase
}

func orUnset[T ~string](v *T) string {
	if v == nil {
		return "<unset>"
	}
	return string(*v)
}
