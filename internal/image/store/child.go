package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/image/layer"
	"github.com/stint-dev/stint/internal/userns"
)

// childCommand is the hidden command that makes this program unpack.
const childCommand = "image-unpack"

// childMemory bounds the memory of the child, in bytes, whatever is in an archive.
const childMemory = 1 << 30

// childTask is the task of a child.
type childTask struct {
	// Unpack is the directory for the layer on standard input, compressed or not; Digest is its digest uncompressed.
	Unpack string `json:"unpack,omitempty"`
	Digest string `json:"digest,omitempty"`
	// List is an empty file. It gets the content of the archive on standard input, whose files are listed, if that is compressed.
	List string `json:"list,omitempty"`
	// Merge is the directory into which Layers are merged.
	Merge  string   `json:"merge,omitempty"`
	Layers []string `json:"layers,omitempty"`
	// Owners reports whether files can be given to other users.
	Owners bool `json:"owners,omitempty"`
	// Store is the directory of the store.
	Store string `json:"store,omitempty"`
	// Discard is an entry of its work directory to remove.
	Discard string `json:"discard,omitempty"`
	// Prune removes what no image in the list needs, and all layers and trees in directories other than Kept.
	Prune bool     `json:"prune,omitempty"`
	Kept  []string `json:"kept,omitempty"`
	// Collect removes images by a policy.
	Collect *collection `json:"collect,omitempty"`
}

// ChildMain runs a task on a store's files if args, those of this process, name one. A program that adds images calls it
// before anything else. Untrusted archives are read in a child process: if it runs out of memory, nothing else fails, and
// without root it can run as root of a user namespace, which has rights over all users of an image.
func ChildMain(args []string) (handled bool, exitCode int) {
	if len(args) != 3 || args[1] != childCommand {
		return false, 0
	}
	var task childTask
	err := json.Unmarshal([]byte(args[2]), &task)
	if err == nil {
		err = task.run()
	}
	switch {
	case err == nil:
		return true, 0
	case filesystem.IsFull(err):
		fmt.Fprintln(os.Stderr, err)
		return true, exitFull
	}
	fmt.Fprintln(os.Stderr, err)
	return true, 1
}

// exitFull is the exit code of a child for which there was not enough space.
const exitFull = 28

// fullError is the error of such a child.
type fullError struct{ text string }

func (e *fullError) Error() string { return e.text }

func (e *fullError) Unwrap() error { return unix.ENOSPC }

func (t childTask) run() error {
	// If the parent is killed, the result is of no use.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	debug.SetMemoryLimit(childMemory / 2)
	limit := unix.Rlimit{Cur: childMemory, Max: childMemory}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &limit); err != nil {
		return err
	}
	if err := confine(); err != nil {
		return err
	}
	if t.isBounded() {
		if err := limitTime(firstSeconds); err != nil {
			return err
		}
	}
	syscall.Umask(0)
	s := &Store{dir: t.Store}
	switch {
	case t.Discard != "":
		return s.discardHere(t.Discard)
	case t.Prune:
		pruned, err := s.prune(t.Kept)
		return errors.Join(err, json.NewEncoder(os.Stdout).Encode(pruned))
	case t.Collect != nil:
		collected, err := s.collect(*t.Collect, t.Kept)
		return errors.Join(err, json.NewEncoder(os.Stdout).Encode(collected))
	case t.List != "":
		return t.listArchive(os.Stdin, os.Stdout)
	case t.Merge != "":
		return t.merge()
	}
	return t.unpack(os.Stdin)
}

func (t childTask) unpack(compressed io.Reader) error {
	dir, err := os.Open(t.Unpack)
	if err != nil {
		return err
	}
	defer dir.Close()
	// An earlier child may have unpacked bytes of a download that has begun again.
	if err := beneath.At(dir).Empty(context.Background()); err != nil {
		return err
	}
	plain, err := decompress(compressed)
	if err != nil {
		return err
	}
	sum := sha256.New()
	// Decompressing, hashing and writing go on at the same time.
	summed := readAhead(io.TeeReader(readAhead(plain), sum))
	if err := layer.Unpack(summed, dir, layer.Options{Owners: t.Owners, Take: t.take()}); err != nil {
		return err
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != t.Digest {
		return fmt.Errorf("its content has the digest %s", got)
	}
	if err := writeSize(t.Unpack, sizeOfLayer); err != nil {
		return err
	}
	// After a crash of the machine, the layer must be complete.
	return unix.Syncfs(int(dir.Fd()))
}

func (t childTask) merge() error {
	dst, err := os.Open(t.Merge)
	if err != nil {
		return err
	}
	defer dst.Close()
	var layers []*os.File
	for _, path := range t.Layers {
		l, err := os.Open(path)
		if err != nil {
			return err
		}
		defer l.Close()
		layers = append(layers, l)
	}
	if err := layer.MergeWithin(dst, layers, t.take()); err != nil {
		return err
	}
	if err := writeSize(t.Merge, sizeOfTree); err != nil {
		return err
	}
	return unix.Syncfs(int(dst.Fd()))
}

// runChild runs a task in a child, as root or else as root of a user namespace.
func runChild(ctx context.Context, task childTask, in io.Reader, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	task.Owners = hasOwners()
	text, err := json.Marshal(task)
	if err != nil {
		return err
	}
	stderr := &head{max: maxAnswer}
	cmd := exec.CommandContext(ctx, self, childCommand, string(text))
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, stderr
	if incoming, ok := in.(*incomingReader); ok {
		stop, err := incoming.feed(cmd)
		if err != nil {
			return err
		}
		defer stop()
	}
	// PR_SET_PDEATHSIG ends the child when the thread that started it ends, so this thread must stay.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := startChild(cmd); err != nil {
		return err
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	first, _, _ := strings.Cut(stderr.String(), "\n")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() == exitFull:
		return &fullError{first}
	case errors.As(err, &exit) && first != "":
		return errors.New(first)
	}
	return err
}

func startChild(cmd *exec.Cmd) error {
	if os.Geteuid() == 0 {
		return cmd.Start()
	}
	if err := userns.Own().Start(cmd); err != nil {
		return fmt.Errorf("images are unpacked in a user namespace: %w%s", err, userns.Restriction())
	}
	return nil
}
