package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// serverProcess is a `stint server` of its own, which is measured from outside.
type serverProcess struct {
	program, dir string
	cmd          *exec.Cmd
	output       bytes.Buffer
	config       *rest.Config
	set          *kubernetes.Clientset
	// ready is the time from exec to ready, in seconds.
	ready float64
}

// startServer starts the program on a data directory and returns when it is ready.
func startServer(ctx context.Context, program, dir string) (*serverProcess, error) {
	s := &serverProcess{program: program, dir: dir}
	if err := os.Remove(s.kubeconfig()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	s.cmd = exec.CommandContext(ctx, program, "server", "--data-dir", dir, "--listen", "127.0.0.1:0")
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.Env = append(os.Environ(), "STINT_RUNTIME=process")
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	var err error
	if s.config, err = waitReady(ctx, s.kubeconfig(), began.Add(30*time.Second)); err != nil {
		return nil, errors.Join(err, s.stop(), errors.New(s.output.String()))
	}
	s.ready = time.Since(began).Seconds()
	s.config.QPS = -1
	if s.set, err = kubernetes.NewForConfig(s.config); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *serverProcess) kubeconfig() string { return filepath.Join(s.dir, "kubeconfig") }

func (s *serverProcess) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("stop %s: %w\n%s", s.program, err, s.output.String())
	}
	return nil
}

// stintBinary returns the absolute path of a stint binary.
func stintBinary(path string) (string, error) {
	program, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("%w (build the binary, or name it with -stint)", err)
	}
	return program, nil
}
