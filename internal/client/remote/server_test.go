package remote_test

import (
	"context"
	"net"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/store"
)

// overTheNetwork returns what reaches a server through a socket, without a limit on requests.
func overTheNetwork(t *testing.T, s *apiserver.Server) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.KubeconfigPath())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

func startServer(t *testing.T) *apiserver.Server {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := apiserver.New(apiserver.Config{DataDir: dir, Store: st, Listener: listener})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
		if err := st.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	<-s.Ready()
	return s
}
