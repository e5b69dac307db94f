package job_test

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// handler calls f with every version of every pod.
func handler(f func(*corev1.Pod)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { f(obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { f(obj.(*corev1.Pod)) },
	}
}
