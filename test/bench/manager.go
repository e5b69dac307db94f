package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/stint-dev/stint/test/kube"
)

// manager is a program that runs Jobs on a cluster.
type manager struct {
	name  string
	start func(context.Context, *kube.Cluster) (program, error)
}

// program is a manager that runs.
type program struct {
	pid  int
	stop func() error
}

func (r program) cpu() time.Duration { return cpuOf(r.pid) }

// unlimited is a rate of requests that no manager reaches here.
const unlimited = "100000"

// managers are the ones to compare; the first is what the others are held against.
func (b *bench) managers() []manager {
	return []manager{
		{"kube-controller-manager", func(_ context.Context, c *kube.Cluster) (program, error) {
			p, err := c.StartControllerManager("job-controller", "--kube-api-qps="+unlimited, "--kube-api-burst="+unlimited)
			if err != nil {
				return program{}, err
			}
			return program{p.PID(), func() error { p.Stop(); return nil }}, nil
		}},
		{"stint controller", b.startStint},
	}
}

func (b *bench) startStint(ctx context.Context, c *kube.Cluster) (program, error) {
	kubeconfig, err := c.Kubeconfig("")
	if err != nil {
		return program{}, err
	}
	cmd := exec.CommandContext(ctx, b.stint, "controller", "--kubeconfig="+kubeconfig, "--leader-elect=false",
		"--managed-by=kubernetes.io/job-controller", "--kube-api-qps="+unlimited, "--kube-api-burst="+unlimited)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	if err := cmd.Start(); err != nil {
		return program{}, fmt.Errorf("start %s (build it, or name it with -stint): %w", b.stint, err)
	}
	return program{cmd.Process.Pid, func() error {
		return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	}}, nil
}
