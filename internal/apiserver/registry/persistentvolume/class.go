package persistentvolume

import (
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// Class describes StorageClasses.
func Class() kinds.Resource {
	return kinds.Resource{
		Version:       storagev1.SchemeGroupVersion,
		Kind:          "StorageClass",
		Plural:        "storageclasses",
		Singular:      "storageclass",
		ShortNames:    []string{"sc"},
		ClusterScoped: true,
		New:           func() runtime.Object { return &storagev1.StorageClass{} },
		NewList:       func() runtime.Object { return &storagev1.StorageClassList{} },
		Columns:       []metav1.TableColumnDefinition{kinds.NameColumn, kinds.AgeColumn},
		Row: func(obj runtime.Object, now time.Time) []any {
			c := obj.(*storagev1.StorageClass)
			return []any{c.Name, kinds.Age(c.CreationTimestamp, now)}
		},
	}
}
