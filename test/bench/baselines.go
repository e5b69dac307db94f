package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// baseline is another way to run a command many times.
type baseline struct {
	name string
	run  func(ctx context.Context, n, atATime int) error
}

const xargs = "xargs -P"

// baselines returns those whose tool this machine has.
func baselines() []baseline {
	all := []baseline{{"fork/exec in Go", forkExec}}
	for _, tool := range []struct {
		name, program string
		args          func(atATime int) []string
	}{
		{xargs, "xargs", func(p int) []string { return append([]string{"-n1", "-P" + strconv.Itoa(p)}, noop...) }},
		{"GNU parallel -j", "parallel", func(p int) []string { return append([]string{"-j" + strconv.Itoa(p)}, noop...) }},
	} {
		path, err := exec.LookPath(tool.program)
		if err != nil {
			fmt.Printf("%s is not installed and left out\n", tool.program)
			continue
		}
		all = append(all, baseline{tool.name, func(ctx context.Context, n, atATime int) error {
			cmd := exec.CommandContext(ctx, path, tool.args(atATime)...)
			cmd.Stdin = strings.NewReader(strings.Repeat("x\n", n))
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", tool.name, err, out)
			}
			return nil
		}})
	}
	return all
}

func forkExec(ctx context.Context, n, atATime int) error {
	todo := make(chan struct{}, n)
	for range n {
		todo <- struct{}{}
	}
	close(todo)
	errs := make(chan error, atATime)
	var running sync.WaitGroup
	for range atATime {
		running.Go(func() {
			for range todo {
				if err := exec.CommandContext(ctx, noop[0], noop[1:]...).Run(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	running.Wait()
	close(errs)
	return <-errs
}
