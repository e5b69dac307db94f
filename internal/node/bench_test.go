package node_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/podstatus"
)

// BenchmarkShortPods creates pods that end at once, from 16 clients, and waits for all of them: node, API server and
// store together, without processes.
func BenchmarkShortPods(b *testing.B) {
	rt := newScripted()
	h := newTestNode(b, rt)
	var ended atomic.Int64
	all := make(chan struct{})
	_, err := h.client.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		was, is := before.(*corev1.Pod).Status.Phase, after.(*corev1.Pod).Status.Phase
		if !podstatus.IsTerminal(was) && podstatus.IsTerminal(is) && ended.Add(1) == int64(b.N) {
			close(all)
		}
	}})
	if err != nil {
		b.Fatal(err)
	}
	h.startNode(nil)
	b.ResetTimer()
	var clients sync.WaitGroup
	next := atomic.Int64{}
	for range 16 {
		clients.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if _, err := h.client.Pods().Create(b.Context(), build(fmt.Sprintf("pod-%d", i), []string{"exit", "0"}, nil)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	clients.Wait()
	<-all
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
}
