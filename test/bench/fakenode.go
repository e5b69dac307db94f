package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// fakeNode runs nothing. It reports every pod as succeeded at once, in one write, which is what the product's node
// needs for a short pod, and with every field that that node would set.
type fakeNode struct {
	pods client.Resource[*corev1.Pod]
	todo chan *corev1.Pod
}

// fakeWorkers is how many pods end at the same time.
const fakeWorkers = 32

func newFakeNode(c client.Interface) (*fakeNode, error) {
	n := &fakeNode{pods: c.Pods(), todo: make(chan *corev1.Pod, 200000)}
	_, err := n.pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
		if pod, ok := o.(*corev1.Pod); ok && pod.Spec.NodeName == "" {
			n.todo <- pod
		}
	}})
	return n, err
}

func (n *fakeNode) run(ctx context.Context) {
	var running sync.WaitGroup
	for range fakeWorkers {
		running.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case pod := <-n.todo:
					n.end(ctx, pod)
				}
			}
		})
	}
	running.Wait()
}

func (n *fakeNode) end(ctx context.Context, pod *corev1.Pod) {
	_, err := n.pods.ModifyStatus(ctx, pod, succeed)
	if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
		fmt.Println("fake node:", err)
	}
}

func succeed(pod *corev1.Pod) {
	now := metav1.NewTime(time.Now())
	pod.Spec.NodeName = "fake"
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.StartTime = &now
	pod.Status.HostIP, pod.Status.PodIP = "127.0.0.1", "127.0.0.1"
	pod.Status.QOSClass = corev1.PodQOSBestEffort
	for _, t := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodReadyToStartContainers,
		corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t,
			Status: corev1.ConditionTrue, Reason: "PodCompleted", LastTransitionTime: now})
	}
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ContainerID: "fake://" + string(pod.UID),
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				Reason: "Completed", StartedAt: now, FinishedAt: now}},
		})
	}
}
