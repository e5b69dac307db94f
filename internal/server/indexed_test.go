package server_test

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/server"
)

// meet is what each pod of an Indexed Job does that is this test's program: it listens, greets the other pods by their names, and
// ends when as many have greeted it.
func meet(others []string) {
	listener, err := net.Listen("tcp4", ":7000")
	if err != nil {
		panic(err)
	}
	greeted := make(chan struct{})
	go func() {
		defer close(greeted)
		for range others {
			conn, err := listener.Accept()
			if err != nil {
				panic(err)
			}
			fmt.Fprint(conn, os.Getenv("JOB_COMPLETION_INDEX"))
			conn.Close()
		}
	}()
	for _, other := range others {
		fmt.Println(other, "is", awaitGreeting(other+":7000"))
	}
	<-greeted
}

// awaitGreeting asks until it is greeted: names are found when their pods have started.
func awaitGreeting(address string) string {
	for {
		if text, err := greeting(address); err == nil {
			return text
		}
		<-time.After(50 * time.Millisecond)
	}
}

func greeting(address string) (string, error) {
	conn, err := net.Dial("tcp4", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	if err == nil && len(text) == 0 {
		err = io.ErrUnexpectedEOF
	}
	return string(text), err
}

func withSubdomain(j *batchv1.Job, subdomain string) *batchv1.Job {
	j.Spec.Template.Spec.Subdomain = subdomain
	return j
}

func TestPodsOfAnIndexedJobFindEachOtherByName(t *testing.T) {
	s, _ := start(t, server.Options{DataDir: t.TempDir(), Node: true})
	c := clientOf(t, s)
	defer endJobs(t, c)
	createJob(t, c, withSubdomain(job("probe", "sleep", "1000"), "ring"))
	if pod := podOf(t, c, "probe"); pod.Status.PodIP == pod.Status.HostIP {
		t.Skip("pods cannot have networks here")
	}
	createService(t, c, "ring", corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true, Selector: map[string]string{"job-name": "peers"}})
	peers := job("peers", program(t), "meet", "peers-0.ring", "peers-1.ring", "peers-2.ring")
	peers.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	peers.Spec.Completions, peers.Spec.Parallelism = ptr.To[int32](3), ptr.To[int32](3)
	createJob(t, c, withSubdomain(peers, "ring"))
	complete(t, c, "peers")
	list, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "job-name=peers"})
	if err != nil || len(list.Items) != 3 {
		t.Fatalf("%d pods, %v", len(list.Items), err)
	}
	addresses := map[netip.Addr]bool{}
	for _, pod := range list.Items {
		addresses[netip.MustParseAddr(pod.Status.PodIP)] = true
		out, err := c.CoreV1().Pods("default").GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(t.Context())
		if want := "peers-0.ring is 0\npeers-1.ring is 1\npeers-2.ring is 2\n"; err != nil || string(out) != want {
			t.Errorf("%s has found %q, %v, want %q", pod.Name, out, err, want)
		}
	}
	if len(addresses) != 3 {
		t.Errorf("the pods have the addresses %v", addresses)
	}
}
