package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sys/unix"
)

// onlyPulls is a piece of part i by itself.
func (b *bench) onlyPulls(ctx context.Context) error {
	program, err := trueProgram()
	if err != nil {
		return err
	}
	return b.pulls(ctx, nil, program)
}

// pulls compares fetching an image of 300 MB into an empty store, from a registry in this process.
func (b *bench) pulls(ctx context.Context, _ *hostBench, program file) error {
	image, err := largeImage(program)
	if err != nil {
		return err
	}
	served := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer served.Close()
	ref, err := name.ParseReference(strings.TrimPrefix(served.URL, "http://")+"/bench/large:1", name.Insecure)
	if err != nil {
		return err
	}
	if err := remote.Write(ref, image, remote.WithContext(ctx)); err != nil {
		return err
	}
	pull := func(pull func(ctx context.Context, ref, dir string) error) func() (result, error) {
		return func() (r result, err error) {
			dir := filepath.Join(b.dir, "pulled")
			clock := newStopwatch()
			clock.start()
			err = pull(ctx, ref.String(), dir)
			r = clock.stop()
			r.things = 1
			_ = unix.Unmount(filepath.Join(dir, "root", "overlay"), unix.MNT_DETACH) // podman's
			return r, errors.Join(err, os.RemoveAll(dir))
		}
	}
	ways := []*way{{name: "stint image pull", run: pull(b.stintPull)}}
	podman := &way{name: "podman pull", run: pull(b.podmanPull)}
	if _, err := podman.run(); err != nil {
		fmt.Printf("podman pull is left out: %v\n", err)
	} else {
		ways = append(ways, podman)
	}
	if err := byTurns(b.runs, ways); err != nil {
		return err
	}
	b.printPulls(ways[0].all, podman.all)
	return nil
}

func (b *bench) printPulls(stint, podman []result) {
	seconds := func(r result) float64 { return r.took.Seconds() }
	own := medianOf(stint, seconds)
	t := newTable("(i) an image of 300 MB from a local registry into an empty store", "", "seconds", "stint is × as fast")
	t.line("stint image pull", own, "")
	if len(podman) == 0 {
		t.print()
		return
	}
	other := medianOf(podman, seconds)
	t.line("podman pull", other, other/own)
	t.print()
	b.judgeBeside("s of a pull, beside podman", own, other, atMost(1))
}

// largeImage has three layers: thousands of small files, some larger ones, and one that is large.
func largeImage(program file) (v1.Image, error) {
	var small, medium []file
	for i := range 8000 {
		small = append(small, file{fmt.Sprintf("etc/%d/%d", i/100, i), plausible(uint64(i), 8<<10)})
	}
	for i := range 140 {
		medium = append(medium, file{fmt.Sprint("bin/library-", i), plausible(uint64(i), 1<<20)})
	}
	return imageOf([]file{program}, small, medium, []file{{"tmp/large", plausible(1, 100<<20)}})
}

func (b *bench) stintPull(ctx context.Context, ref, dir string) error {
	return quietly(exec.CommandContext(ctx, b.stint, "image", "pull", "--image-dir", dir, ref))
}

func (b *bench) podmanPull(ctx context.Context, ref, dir string) error {
	command, err := podmanCommand(dir)
	if err != nil {
		return err
	}
	return quietly(command(ctx, "pull", "--tls-verify=false", ref))
}
