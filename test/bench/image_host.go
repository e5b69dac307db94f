package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	testimages "github.com/stint-dev/stint/test/images"
)

// atATimeInHost is how many containers run at the same time.
const atATimeInHost = 32

// capabilities are those that containerd gives a container.
const capabilities = 0x_a80425fb

// hostBench runs containers with a store of images, and without a control plane.
type hostBench struct {
	*process.Runtime
	store *store.Store
	logs  string

	mu    sync.Mutex
	made  int
	ended map[runtime.ID]chan runtime.Status
}

func (b *bench) openHost(ctx context.Context) (*hostBench, error) {
	images, err := store.Open(b.imageDir())
	if err != nil {
		return nil, err
	}
	r, err := process.Start(ctx, process.Config{Dir: filepath.Join(b.dir, "host"), IdleExit: time.Second})
	if err != nil {
		return nil, err
	}
	if info := r.Info(); !info.CanRunImages {
		r.Close()
		return nil, errors.New("images cannot be run here: " + info.WhyNoImages)
	}
	h := &hostBench{Runtime: r, store: images, logs: filepath.Join(b.dir, "logs"), ended: map[runtime.ID]chan runtime.Status{}}
	go h.listen()
	return h, nil
}

func (h *hostBench) listen() {
	for s := range h.Events() {
		h.mu.Lock()
		if ended := h.ended[s.ID]; ended != nil {
			ended <- s
			delete(h.ended, s.ID)
		}
		h.mu.Unlock()
	}
}

// add puts an image into the store and returns its tree.
func (h *hostBench) add(ctx context.Context, name string, image v1.Image) (tree string, err error) {
	from, err := testimages.Source(image)
	if err != nil {
		return "", err
	}
	added, err := h.store.Add(ctx, name, from, nil)
	return h.store.Tree(added), err
}

// container returns a new container whose root is tree. Where tree is empty, it uses the machine's own programs.
func (h *hostBench) container(tree string, command ...string) runtime.Container {
	h.mu.Lock()
	h.made++
	uid := fmt.Sprint("pod-", h.made)
	h.mu.Unlock()
	c := runtime.Container{
		ID: runtime.ID{PodUID: types.UID(uid), Container: "main"}, PodNamespace: namespace, PodName: uid,
		Command: command, Hostname: "worker", TerminationMessagePath: "/dev/termination-log",
		LogPath: filepath.Join(h.logs, uid, "0.log"),
	}
	if tree != "" {
		c.Root = &runtime.Root{Tree: tree, Capabilities: capabilities}
	}
	return c
}

// run takes a container from its start to its end.
func (h *hostBench) run(ctx context.Context, c runtime.Container) error {
	ended := make(chan runtime.Status, 1)
	h.mu.Lock()
	h.ended[c.ID] = ended
	h.mu.Unlock()
	s, err := h.Start(ctx, c)
	if err != nil {
		return err
	}
	defer h.forget(ctx, c)
	if s.State != runtime.Exited {
		select {
		case s = <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s.ExitCode != 0 || s.StartError != "" {
		return fmt.Errorf("a container ended with %d: %s", s.ExitCode, s.StartError)
	}
	return nil
}

// forget removes all that the host keeps of the container, as a node does when its pod is deleted.
func (h *hostBench) forget(ctx context.Context, c runtime.Container) {
	if h.RemovePod(ctx, c.PodUID, "") == nil {
		_ = h.Forget(ctx, c.ID) // it ends with the host at the latest
	}
}

// many runs n containers.
func (h *hostBench) many(ctx context.Context, n int, tree string) (result, error) {
	clock := newStopwatch()
	clock.start()
	err := inParallel(n, atATimeInHost, func(int) error { return h.run(ctx, h.container(tree, "/bin/true")) })
	r := clock.stop()
	r.things = n
	return r, err
}

// mounts returns how many mounts a container of the tree has.
func (h *hostBench) mounts(ctx context.Context, tree string) (int, error) {
	c := h.container(tree, "/bin/busybox", "cat", "/proc/self/mountinfo")
	if err := h.run(ctx, c); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(c.LogPath)
	return strings.Count(string(text), "\n"), err
}
