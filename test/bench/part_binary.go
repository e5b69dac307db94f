package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// atRest is how long a server is left alone before its memory is read.
const atRest = 3 * time.Second

// binary is part d.
func (b *bench) binary(ctx context.Context) error {
	program, err := filepath.Abs(b.stint)
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil {
		fmt.Printf("\n(d) left out: %v (build the binary, or name it with -stint)\n", err)
		return nil
	}
	var ready, again, latencies []float64
	var server, host []memory
	for range b.runs {
		dir, err := os.MkdirTemp(b.dir, "binary-")
		if err != nil {
			return err
		}
		first, err := b.oneStart(ctx, program, dir, nil)
		if err != nil {
			return err
		}
		second, err := b.oneStart(ctx, program, dir, &latencies)
		if err != nil {
			return err
		}
		ready, again = append(ready, first.ready), append(again, second.ready)
		server, host = append(server, second.server), append(host, second.host)
	}
	t := newTable("(d) the binary", "", "p50", "p99", "aim")
	t.line("exec to ready, empty directory, s", percentile(ready, 50), percentile(ready, 99), "")
	t.line("exec to ready, used directory, s", percentile(again, 50), percentile(again, 99), "< 0.5")
	resident := memories(t, "server at rest", server)
	memories(t, "its process host", host)
	t.line("pod exit to status over a watch, ms", percentile(latencies, 50), percentile(latencies, 99), "p99 < 50")
	t.print()
	aim("s to ready", percentile(again, 50), 0.5, true)
	aim("MB resident at rest", resident, 110, true)
	aim("ms from exit to status, p99", percentile(latencies, 99), 50, true)
	return nil
}

// memories adds two lines on the memory of a process, and returns the median of its resident memory.
func memories(t *table, what string, all []memory) float64 {
	var resident, anonymous []float64
	for _, m := range all {
		resident, anonymous = append(resident, m.resident), append(anonymous, m.anonymous)
	}
	t.line(what+", resident, MB", percentile(resident, 50), percentile(resident, 99), "")
	t.line("without the pages of the program, MB", percentile(anonymous, 50), percentile(anonymous, 99), "")
	return percentile(resident, 50)
}

// started is what one start of the binary gave.
type started struct {
	ready        float64 // seconds
	server, host memory
}

// oneStart starts the binary and stops it again. It measures latencies in between if they are wanted.
func (b *bench) oneStart(ctx context.Context, program, dir string, latencies *[]float64) (s started, err error) {
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "server", "--data-dir", dir, "--listen", "127.0.0.1:0")
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Env = append(os.Environ(), "STINT_RUNTIME=process")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.Remove(kubeconfig); err != nil && !errors.Is(err, os.ErrNotExist) {
		return s, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	defer func() {
		if e := cmd.Process.Signal(syscall.SIGTERM); e == nil {
			e = cmd.Wait()
			if err == nil && e != nil {
				err = fmt.Errorf("stop %s: %w\n%s", program, e, output.String())
			}
		}
	}()
	config, err := waitReady(ctx, kubeconfig, began.Add(30*time.Second))
	if err != nil {
		return s, fmt.Errorf("%w\n%s", err, output.String())
	}
	s.ready = time.Since(began).Seconds()
	if latencies == nil {
		return s, nil
	}
	if err := pause(ctx, atRest); err != nil {
		return s, err
	}
	s.server = memoryOf(cmd.Process.Pid)
	s.host = hostMemory(program, cmd.Process.Pid)
	measured, err := b.exitLatencies(ctx, config)
	*latencies = append(*latencies, measured...)
	return s, err
}

// hostMemory is that of the process hosts of this binary.
func hostMemory(program string, server int) (sum memory) {
	for _, pid := range running(program) {
		if pid != server {
			m := memoryOf(pid)
			sum.resident += m.resident
			sum.anonymous += m.anonymous
		}
	}
	return sum
}

// waitReady polls until the server that writes this kubeconfig answers.
func waitReady(ctx context.Context, kubeconfig string, until time.Time) (*rest.Config, error) {
	for time.Now().Before(until) {
		if config, err := clientcmd.BuildConfigFromFlags("", kubeconfig); err == nil && answers(ctx, config) {
			return config, nil
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the server does not answer")
}

func answers(ctx context.Context, config *rest.Config) bool {
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		return false
	}
	defer c.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := c.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
