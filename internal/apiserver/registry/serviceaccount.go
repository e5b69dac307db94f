package registry

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// ServiceAccount describes ServiceAccounts. They are served so that manifests with accounts can be applied, and for their
// imagePullSecrets. The server issues no tokens.
func ServiceAccount() kinds.Resource {
	return kinds.Resource{
		Version:    corev1.SchemeGroupVersion,
		Kind:       "ServiceAccount",
		Plural:     "serviceaccounts",
		Singular:   "serviceaccount",
		ShortNames: []string{"sa"},
		New:        func() runtime.Object { return &corev1.ServiceAccount{} },
		NewList:    func() runtime.Object { return &corev1.ServiceAccountList{} },
		Columns: []metav1.TableColumnDefinition{
			kinds.NameColumn,
			{Name: "Secrets", Type: "string", Description: corev1.ServiceAccount{}.SwaggerDoc()["secrets"]},
			kinds.AgeColumn,
		},
		Row: func(obj runtime.Object, now time.Time) []any {
			sa := obj.(*corev1.ServiceAccount)
			return []any{sa.Name, int64(len(sa.Secrets)), kinds.Age(sa.CreationTimestamp, now)}
		},
	}
}
