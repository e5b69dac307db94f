package server_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
)

var networkPods = flag.Int("network.pods", 300, "how many short pods have a network, one after the other, before what they leave is counted")

// residentMB is the memory of a process; this one first gives back what is free.
func residentMB(pid int) int {
	if pid == os.Getpid() {
		debug.FreeOSMemory()
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		pages, _ := strconv.Atoi(fields[1])
		return pages * os.Getpagesize() >> 20
	}
	return 0
}

func TestShortPodsWithNetworksLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	s, _ := start(t, server.Options{DataDir: dir, Node: true})
	c := clientOf(t, s)
	defer endJobs(t, c)
	createService(t, c, "all", corev1.ServiceSpec{
		Selector: map[string]string{"app": "short"}, Ports: []corev1.ServicePort{{Port: 80}}, PublishNotReadyAddresses: true,
	})
	createJob(t, c, job("probe", "sleep", "1000"))
	if pod := podOf(t, c, "probe"); pod.Status.PodIP == pod.Status.HostIP {
		t.Skip("pods cannot have networks here")
	}
	if err := c.BatchV1().Jobs("default").Delete(t.Context(), "probe", metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	gone(t, c, "probe")
	host := hostPID(t, dir)
	run := func(name string, pods int) {
		j := job(name, "true")
		j.Spec.Template.Labels = map[string]string{"app": "short"}
		j.Spec.Completions, j.Spec.Parallelism = ptr.To(int32(pods)), ptr.To[int32](32)
		createJob(t, c, j)
		complete(t, c, name)
	}
	// What is made once, and kept, is there after these.
	run("first", 64)
	await.Until(t, "the networks of the first pods have ended", func() bool { return tracesOf(t, host)["networks"] == 1 })
	before, began := tracesOf(t, host), time.Now()
	own, hosts := residentMB(os.Getpid()), residentMB(host)
	run("many", *networkPods)
	took := time.Since(began).Seconds()
	t.Logf("%d pods in %.1f s, %.0f a second; RSS of this process %d MB, %d before, of the host %d MB, %d before",
		*networkPods, took, float64(*networkPods)/took, residentMB(os.Getpid()), own, residentMB(host), hosts)
	var now traces
	await.Until(t, "the pods have left nothing", func() bool {
		now = tracesOf(t, host)
		return now["networks"] == 1 && len(now.beyond(before)) == 0
	}, func() string { return fmt.Sprint(now.beyond(before)) })
}
