package network

import (
	"fmt"
	"os"
	goruntime "runtime"

	"golang.org/x/sys/unix"
)

// ofThisThread is the network namespace of the calling thread.
const ofThisThread = "/proc/thread-self/ns/net"

// newNamespace makes a network namespace, and calls do in it.
func newNamespace(do func() error) (*os.File, error) {
	var ns *os.File
	err := visit(func() error { return unix.Unshare(unix.CLONE_NEWNET) }, func() (err error) {
		if ns, err = os.Open(ofThisThread); err != nil {
			return err
		}
		return do()
	})
	if err != nil && ns != nil {
		ns.Close()
		ns = nil
	}
	return ns, err
}

// inside calls do in a network namespace. Sockets that it makes stay there.
func inside(ns *os.File, do func() error) error {
	return visit(func() error { return unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET) }, do)
}

// visit calls do on a thread that has entered a namespace and ends then: only root of the machine may go back to the machine's.
// Goroutines that do starts are not in the namespace.
func visit(enter, do func() error) error {
	done := make(chan error, 1)
	go func() {
		goruntime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			// The first thread cannot end. While it waits here, another one goes.
			defer goruntime.UnlockOSThread()
			done <- visit(enter, do)
			return
		}
		err := enter()
		if err != nil {
			err = fmt.Errorf("enter a network namespace: %w", err)
		} else {
			err = do()
		}
		done <- err
	}()
	return <-done
}
