package kube

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Process is a running program of the cluster.
type Process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{}
}

func (c *Cluster) start(name string, flags ...string) (*Process, error) {
	return c.Run(name, filepath.Join(c.programs, name), flags...)
}

// Run starts a program that belongs to the cluster, in its directory and with a log NAME.log there.
func (c *Cluster) Run(name, program string, flags ...string) (*Process, error) {
	logPath := c.path(name + ".log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &Process{name: name, log: logPath, done: make(chan struct{})}
	p.cmd = exec.Command(program, flags...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = c.options.Dir, log, log
	// A test that is killed leaves nothing behind.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		p.cmd.Wait() //nolint:errcheck // Its log says how it ended.
	}()
	return p, nil
}

// Kill ends the process at once. A process that never started, or has ended, is left alone.
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

// Stop asks the process to end and waits until it has.
func (p *Process) Stop() { p.signal(syscall.SIGTERM) }

func (p *Process) signal(s syscall.Signal) {
	if p == nil {
		return
	}
	p.cmd.Process.Signal(s) //nolint:errcheck // It may have ended.
	<-p.done
}

// PID is the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.done }

// Tail is the last lines of the log.
func (p *Process) Tail() []byte {
	const lines = 20
	log, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	all := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	return bytes.Join(all[max(0, len(all)-lines):], []byte("\n"))
}
