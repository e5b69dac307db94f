package apiserver

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
)

// addPullSecrets gives a new pod that names no imagePullSecrets those of its ServiceAccount, after prepare, as the
// admission plug-in of a cluster does. Pods that pull nothing need none.
func (s *Server) addPullSecrets(prepare func(context.Context, runtime.Object)) func(context.Context, runtime.Object) {
	return func(ctx context.Context, obj runtime.Object) {
		prepare(ctx, obj)
		pod := obj.(*corev1.Pod)
		if noderuntime.HandlerOf(pod) != noderuntime.ClassOCI || len(pod.Spec.ImagePullSecrets) > 0 {
			return
		}
		// The account may be missing: pods run without one here.
		account, err := s.serviceAccounts.Get(genericapirequest.WithNamespace(ctx, pod.Namespace), pod.Spec.ServiceAccountName, &metav1.GetOptions{})
		if err == nil {
			pod.Spec.ImagePullSecrets = slices.Clone(account.(*corev1.ServiceAccount).ImagePullSecrets)
		}
	}
}
