package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// server is stint server in a process of its own, with directories of its own.
type server struct {
	kubernetes.Interface
	program, kubeconfig, images string
	// claims has the directories of claims that no file defines.
	claims  string
	command *exec.Cmd
}

func startServer(ctx context.Context, program, dir string) (*server, error) {
	data := filepath.Join(dir, "data")
	s := &server{program: program, kubeconfig: filepath.Join(data, "kubeconfig"), images: filepath.Join(dir, "images"), claims: filepath.Join(dir, "claims")}
	s.command = exec.Command(program, "server", "--data-dir", data, "--listen", "127.0.0.1:0", "--image-dir", s.images,
		"--allocatable", "cpu=1000,memory=1000Gi", "--local-storage-classes", "*")
	s.command.Env = append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	log, err := os.Create(filepath.Join(dir, "server.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.command.Stdout, s.command.Stderr = log, log
	s.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return s.connect(ctx) == nil, nil
	})
	if err != nil {
		s.stop()
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("the server does not answer: %w\n%s", err, text)
	}
	return s, nil
}

func (s *server) connect(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, -1
	if s.Interface, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	return s.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

func (s *server) stop() {
	_ = s.command.Process.Signal(syscall.SIGTERM)
	_ = s.command.Wait()
}

// pull pulls an image as a user would.
func (s *server) pull(ctx context.Context, image string) error {
	cmd := exec.CommandContext(ctx, s.program, "image", "pull", "--image-dir", s.images, image)
	cmd.Env = s.command.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.New(string(out))
	}
	return nil
}

// create creates an object as a user would, and returns its name.
func (s *server) create(ctx context.Context, namespace string, object *unstructured.Unstructured) (string, error) {
	object = object.DeepCopy()
	object.SetNamespace(namespace)
	text, err := object.MarshalJSON()
	if err != nil {
		return "", err
	}
	out, err := s.stint(ctx, text, "create", "-n", namespace, "--validate=warn", "-o", "name", "-f", "-")
	_, name, _ := strings.Cut(strings.TrimSpace(out), "/")
	return name, err
}

// stint runs a command of the program against the server. The error has what the command writes to stderr.
func (s *server) stint(ctx context.Context, in []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.program, append(args, "--kubeconfig", s.kubeconfig)...)
	var out, complaints bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &complaints
	if err := cmd.Run(); err != nil {
		return out.String(), errors.New(complaints.String())
	}
	return out.String(), nil
}
