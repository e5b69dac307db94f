package userns

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// IDs are the user and group ids of a user namespace that this user can make.
type IDs struct {
	uids, gids []syscall.SysProcIDMap
	// SingleIDReason is why there is no other id than 0; nil if there are others.
	SingleIDReason error
}

// Own finds out which ids this user can have. It does so once.
var Own = sync.OnceValue(func() IDs {
	ids, err := subordinate(os.Geteuid(), os.Getegid(), "/etc/subuid", "/etc/subgid")
	if err == nil {
		err = ids.try()
	}
	if err == nil {
		return ids
	}
	return IDs{uids: only(os.Geteuid()), gids: only(os.Getegid()), SingleIDReason: err}
})

// Count is how many users and groups there are, from 0 on.
func (ids IDs) Count() int { return min(total(ids.uids), total(ids.gids)) }

func total(ranges []syscall.SysProcIDMap) int {
	last := ranges[len(ranges)-1]
	return last.ContainerID + last.Size
}

func only(id int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: id, Size: 1}} }

// subordinate reads which ids a user may have in addition to its own.
func subordinate(uid, gid int, uidFile, gidFile string) (IDs, error) {
	for _, program := range []string{"newuidmap", "newgidmap"} {
		if _, err := exec.LookPath(program); err != nil {
			return IDs{}, fmt.Errorf("there is no %s, which maps subordinate ids: install it (package uidmap or shadow-utils)", program)
		}
	}
	names := []string{strconv.Itoa(uid)}
	if account, err := user.LookupId(names[0]); err == nil {
		names = append(names, account.Username)
	}
	uids, err := rangesOf(names, uidFile)
	if err != nil {
		return IDs{}, err
	}
	gids, err := rangesOf(names, gidFile)
	if err != nil {
		return IDs{}, err
	}
	return IDs{uids: append(only(uid), uids...), gids: append(only(gid), gids...)}, nil
}

// rangesOf reads the ranges of a user, whose lines may have the name or the number. They are mapped to the ids from 1 on.
func rangesOf(names []string, file string) ([]syscall.SysProcIDMap, error) {
	who := names[len(names)-1]
	none := fmt.Errorf("%s has no subordinate ids in %s: as root, run usermod --add-subuids 100000-165535 --add-subgids 100000-165535 %s",
		who, file, who)
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, none
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var ranges []syscall.SysProcIDMap
	next := 1
	for lines := bufio.NewScanner(f); lines.Scan(); {
		r, ok := parseRange(lines.Text(), names)
		if !ok {
			continue
		}
		r.ContainerID = next
		next += r.Size
		ranges = append(ranges, r)
	}
	if len(ranges) == 0 {
		return nil, none
	}
	return ranges, nil
}

// parseRange parses a line in the format of subuid(5). ok is whether it is valid and has one of the names.
func parseRange(line string, names []string) (r syscall.SysProcIDMap, ok bool) {
	fields := strings.Split(strings.TrimSpace(line), ":")
	if len(fields) != 3 {
		return r, false
	}
	for _, name := range names {
		ok = ok || fields[0] == name
	}
	start, err1 := strconv.ParseUint(fields[1], 10, 32)
	size, err2 := strconv.ParseUint(fields[2], 10, 32)
	return syscall.SysProcIDMap{HostID: int(start), Size: int(size)}, ok && err1 == nil && err2 == nil && size > 0
}

// try finds out whether these ids can be mapped.
func (ids IDs) try() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	// The program reads end of file from its standard input instead of the answer, and exits.
	cmd.Env = []string{awaitVariable + "=0"}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("user namespaces: %w", err)
	}
	err = ids.assign(cmd.Process.Pid)
	in.Close()
	_ = cmd.Wait()
	return err
}

// assign maps the ids in the user namespace of a process.
func (ids IDs) assign(pid int) error {
	for program, ranges := range map[string][]syscall.SysProcIDMap{"newuidmap": ids.uids, "newgidmap": ids.gids} {
		words := []string{strconv.Itoa(pid)}
		for _, r := range ranges {
			words = append(words, strconv.Itoa(r.ContainerID), strconv.Itoa(r.HostID), strconv.Itoa(r.Size))
		}
		out, err := exec.Command(program, words...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s cannot map subordinate ids: %s", program, strings.TrimSpace(string(out)+" ("+err.Error()+")"))
		}
	}
	return nil
}

// Initial reports whether this process is in the initial user namespace, so that its users are those of the machine.
func Initial() bool {
	f, err := os.Open("/proc/self/uid_map")
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	return err == nil && strings.Join(strings.Fields(string(text)), " ") == "0 0 4294967295"
}
