package userns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// awaitVariable has the number of a descriptor from which the program reads a byte when it has its ids.
const awaitVariable = "STINT_AWAIT_IDS"

// Start starts cmd, which must run this program, as root of a new user namespace with these ids. Other new namespaces of cmd
// belong to that one.
func (ids IDs) Start(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	if ids.SingleIDReason != nil {
		cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = ids.uids, ids.gids
		return cmd.Start()
	}
	answer, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	defer tell.Close()
	defer answer.Close()
	cmd.ExtraFiles = append(cmd.ExtraFiles, answer)
	cmd.Env = append(cmd.Environ(), awaitVariable+"="+strconv.Itoa(2+len(cmd.ExtraFiles)))
	if err := cmd.Start(); err != nil {
		return err
	}
	err = ids.assign(cmd.Process.Pid)
	if err == nil {
		_, err = tell.Write([]byte{1})
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return err
}

// A program that was started by Start waits here.
func init() {
	descriptor, awaits := os.LookupEnv(awaitVariable)
	if !awaits {
		return
	}
	err := await(descriptor)
	fmt.Fprintln(os.Stderr, "the user namespace has no ids:", err)
	os.Exit(1)
}

// await executes this program again when it has its ids, because an execve before does not give it the rights of root.
func await(descriptor string) error {
	fd, err := strconv.Atoi(descriptor)
	if err != nil {
		return err
	}
	syscall.CloseOnExec(fd)
	if n, err := syscall.Read(fd, make([]byte, 1)); n != 1 {
		return errors.Join(errors.New("the program that started this one has not mapped them"), err)
	}
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, awaitVariable+"=") {
			env = append(env, pair)
		}
	}
	return syscall.Exec("/proc/self/exe", os.Args, env)
}
