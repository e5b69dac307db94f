package server_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
)

// askServers is what a pod does that is this test's program: it prints the status with which each URL answers.
func askServers(urls []string) {
	ca := x509.NewCertPool()
	ca.AppendCertsFromPEM([]byte(os.Getenv("CA")))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca}}}
	for _, u := range urls {
		request, err := http.NewRequest(http.MethodGet, u, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		if token := os.Getenv("TOKEN"); token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := client.Do(request)
		if err != nil {
			fmt.Println(err)
			continue
		}
		response.Body.Close()
		fmt.Println(u, response.StatusCode)
	}
}

// program is this test's program.
func program(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func createService(t *testing.T, c kubernetes.Interface, name string, spec corev1.ServiceSpec) {
	t.Helper()
	if _, err := c.CoreV1().Services("default").Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestPodsReachTheAPIServerByItsService(t *testing.T) {
	s, _ := start(t, server.Options{DataDir: t.TempDir(), Node: true, Listen: "127.0.0.1:0"})
	c := clientOf(t, s)
	createService(t, c, "web", corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}})
	kubeconfig, err := clientcmd.BuildConfigFromFlags("", s.KubeconfigPath())
	if err != nil {
		t.Fatal(err)
	}
	var address netip.Addr
	await.Until(t, "pods can reach the server", func() bool {
		slice, err := c.DiscoveryV1().EndpointSlices("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
		if err == nil && len(slice.Endpoints) > 0 {
			address = netip.MustParseAddr(slice.Endpoints[0].Addresses[0])
		}
		return err == nil
	})
	if !address.IsValid() {
		t.Skip("pods cannot have networks here")
	}
	service, err := c.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	listens, err := url.Parse(kubeconfig.Host)
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, host := range []string{
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local", service.Spec.ClusterIP,
		net.JoinHostPort(address.String(), listens.Port()),
	} {
		urls = append(urls, "https://"+host+"/version")
	}
	for name, access := range map[string]struct {
		token string
		want  string
	}{
		"user":     {kubeconfig.BearerToken, "200"},
		"stranger": {"", "401"},
	} {
		asking := job(name, append([]string{program(t), "ask"}, urls...)...)
		asking.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{
			{Name: "CA", Value: string(kubeconfig.CAData)}, {Name: "TOKEN", Value: access.token},
		}
		createJob(t, c, asking)
		complete(t, c, name)
		want := strings.Join(urls, " "+access.want+"\n") + " " + access.want + "\n"
		if got := logOf(t, c, name); got != want {
			t.Errorf("the %s got\n%swant\n%s", name, got, want)
		}
	}
}
