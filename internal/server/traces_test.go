package server_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/process/wire"
)

// traces counts what pods with a network may leave behind, by what it is.
type traces map[string]int

// beyond lists what there is more of than before.
func (now traces) beyond(before traces) (all []string) {
	for what, count := range now {
		if count > before[what] {
			all = append(all, fmt.Sprintf("%d %s, %d before", count, what, before[what]))
		}
	}
	return all
}

// hostPID is the host process of a data directory.
func hostPID(t *testing.T, dataDir string) int {
	t.Helper()
	dir, err := rundir.Find(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(dir, "host.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	owner, err := wire.NewConn(socket).Peer()
	if err != nil {
		t.Fatal(err)
	}
	return int(owner.Pid)
}

// tracesOf counts what there is in a host process, in the network of all its pods, and in this process.
func tracesOf(t *testing.T, host int) traces {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", host))
	if err != nil || len(files) == 0 {
		t.Fatalf("the files of the host process: %v", err)
	}
	all := traces{"goroutines": runtime.NumGoroutine()}
	network := ""
	for _, file := range files {
		target, err := os.Readlink(file)
		switch {
		case err != nil || strings.HasPrefix(target, "/sys/fs/cgroup/"): // Some cgroups are kept for later containers.
		case strings.HasPrefix(target, "net:"):
			all["networks"]++
			network = file
		default:
			all["files"]++
		}
	}
	if all["networks"] == 1 {
		if err := countInside(network, all); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// countInside counts what there is in a network, from a thread that enters it and then ends. A user who is not root may not.
func countInside(network string, all traces) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- func() error {
			ns, err := os.Open(network)
			if err != nil {
				return err
			}
			defer ns.Close()
			if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
				if err == unix.EPERM {
					return nil
				}
				return err
			}
			for what, file := range map[string]string{"links": "dev", "routes": "route", "addresses and routes to them": "fib_trie", "neighbours": "arp"} {
				text, err := os.ReadFile("/proc/thread-self/net/" + file)
				if err != nil {
					return err
				}
				all[what] = bytes.Count(text, []byte("\n"))
			}
			return countRules(all)
		}()
	}()
	return <-done
}

func countRules(all traces) error {
	conn, err := nftables.New()
	if err != nil {
		return err
	}
	chains, err := conn.ListChains()
	if err != nil {
		return err
	}
	all["chains"] = len(chains)
	for _, chain := range chains {
		rules, err := conn.GetRules(chain.Table, chain)
		if err != nil {
			return err
		}
		all["rules"] += len(rules)
	}
	tables, err := conn.ListTables()
	if err != nil {
		return err
	}
	for _, table := range tables {
		sets, err := conn.GetSets(table)
		if err != nil {
			return err
		}
		for _, set := range sets {
			elements, err := conn.GetSetElements(set)
			if err != nil {
				return err
			}
			all["elements of sets"] += len(elements)
		}
	}
	return nil
}
