package main

import (
	"path/filepath"

	"github.com/stint-dev/stint/test/kube"
)

// manager is a program that runs Jobs on a cluster.
type manager struct {
	name  string
	start func(*kube.Cluster) (*kube.Process, error)
}

// unlimited is a rate of requests that no manager reaches here.
const unlimited = "100000"

// managers returns the managers to compare. The second is compared with the first.
func (b *bench) managers() []manager {
	return []manager{
		{"kube-controller-manager", func(c *kube.Cluster) (*kube.Process, error) {
			return c.StartControllerManager("job-controller", "--kube-api-qps="+unlimited, "--kube-api-burst="+unlimited)
		}},
		{"stint controller", b.startStint},
	}
}

func (b *bench) startStint(c *kube.Cluster) (*kube.Process, error) {
	kubeconfig, err := c.Kubeconfig("")
	if err != nil {
		return nil, err
	}
	program, err := filepath.Abs(b.stint)
	if err != nil {
		return nil, err
	}
	return c.Run("stint-controller", program, "controller", "--kubeconfig="+kubeconfig, "--leader-elect=false",
		"--managed-by=kubernetes.io/job-controller", "--kube-api-qps="+unlimited, "--kube-api-burst="+unlimited)
}
