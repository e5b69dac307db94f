package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Goals for no-op containers a second on two cores.
const (
	wantedAsRoot   = 500
	wantedRootless = 300
)

// images is part i.
func (b *bench) images(ctx context.Context) (err error) {
	program, err := trueProgram()
	if err != nil {
		fmt.Printf("\n(i) is left out: %v\n", err)
		return nil
	}
	h, err := b.openHost(ctx)
	if err != nil {
		fmt.Printf("\n(i) is left out: %v\n", err)
		return nil
	}
	defer h.Close()
	for _, measure := range []func(context.Context, *hostBench, file) error{b.inHost, b.manyLayers, b.firstContainer, b.throughAPI, b.pulls} {
		if err := measure(ctx, h, program); err != nil {
			return err
		}
	}
	return nil
}

// inHost compares ways to run a container, by turns.
func (b *bench) inHost(ctx context.Context, h *hostBench, program file) error {
	image, err := imageOf([]file{program})
	if err != nil {
		return err
	}
	tree, err := h.add(ctx, "docker.io/library/noop:1", image)
	if err != nil {
		return err
	}
	ways := []*way{
		{name: "stint, from an image", run: func() (result, error) { return h.many(ctx, b.pods, tree) }},
		{name: "stint, as a process", run: func() (result, error) { return h.many(ctx, b.pods, "") }},
	}
	for _, tool := range b.containerTools(ctx, program) {
		ways = append(ways, &way{name: tool.name, run: func() (result, error) { return tool.run(ctx, max(1, b.pods/tool.fraction)) }})
	}
	if err := byTurns(b.runs, ways); err != nil {
		return err
	}
	t := newTable(fmt.Sprintf("(i) no-op containers from start to reaped, %d at a time, %s, no control plane", atATimeInHost, whoRuns(h.Info())),
		"", "containers/s", "stint is × as fast")
	own := medianOf(ways[0].all, result.rate)
	t.line(ways[0].name, own, "")
	for _, w := range ways[1:] {
		rate := medianOf(w.all, result.rate)
		t.line(w.name, rate, own/rate)
	}
	t.print()
	wanted := float64(wantedRootless)
	if os.Geteuid() == 0 {
		wanted = wantedAsRoot
	}
	b.judge("containers/s", own, atLeast(wanted))
	return nil
}

func whoRuns(info runtime.Info) string {
	switch {
	case os.Geteuid() == 0:
		return "as root"
	case info.ImageIDs == 1:
		return "without root, with one id"
	}
	return "without root, with subordinate ids"
}

// layerCount is the number of layers of the image with many layers.
const layerCount = 50

// manyLayers compares an image of many layers with one that has the same files in one.
func (b *bench) manyLayers(ctx context.Context, h *hostBench, program file) error {
	files := []file{program, {"bin/busybox", program.content}}
	for i := range layerCount - 1 {
		files = append(files, file{fmt.Sprint("etc/file-", i), plausible(uint64(i), 1000)})
	}
	apart := [][]file{files[:2]}
	for i := range files[2:] {
		apart = append(apart, files[2+i:3+i])
	}
	var trees [2]string
	for i, layers := range [][][]file{{files}, apart} {
		image, err := imageOf(layers...)
		if err != nil {
			return err
		}
		if trees[i], err = h.add(ctx, fmt.Sprint("docker.io/library/layers:", i), image); err != nil {
			return err
		}
	}
	var ways []*way
	for _, tree := range trees {
		ways = append(ways, &way{run: func() (result, error) { return h.many(ctx, b.pods/2, tree) }})
	}
	if err := byTurns(b.runs, ways); err != nil {
		return err
	}
	t := newTable("(i) the same files in one layer and in many", "layers", "containers/s", "mounts in a container")
	var rates [2]float64
	for i, count := range []int{1, layerCount} {
		mounts, err := h.mounts(ctx, trees[i])
		if err != nil {
			return err
		}
		rates[i] = medianOf(ways[i].all, result.rate)
		t.line(count, rates[i], mounts)
	}
	t.print()
	b.judgeBeside(fmt.Sprintf("containers/s of %d layers, beside one", layerCount), rates[1], rates[0], atLeast(0.9))
	return nil
}

// firstContainer measures how long the first container of an image takes once the image is in the store.
func (b *bench) firstContainer(ctx context.Context, h *hostBench, program file) error {
	var first, second []float64
	for i := range 10 * b.runs {
		image, err := imageOf([]file{program, {"etc/number", fmt.Append(nil, i)}})
		if err != nil {
			return err
		}
		tree, err := h.add(ctx, fmt.Sprint("docker.io/library/fresh:", i), image)
		if err != nil {
			return err
		}
		for _, times := range []*[]float64{&first, &second} {
			began := time.Now()
			if err := h.run(ctx, h.container(tree, "/bin/true")); err != nil {
				return err
			}
			*times = append(*times, milliseconds(time.Since(began)))
		}
	}
	t := newTable("(i) from start to end of one container, ms", "", "p50", "p99")
	t.line("the first of an image", percentile(first, 50), percentile(first, 99))
	t.line("the second", percentile(second, 50), percentile(second, 99))
	t.print()
	b.judge("ms until the first container of an image has ended", percentile(first, 50), atMost(20))
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// throughAPI compares Jobs whose pods run from an image with Jobs whose pods are processes, on one server.
func (b *bench) throughAPI(ctx context.Context, h *hostBench, _ file) (err error) {
	c, err := b.start(ctx, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	pods := max(1, b.pods/2)
	var ways []*way
	jobs := 0
	for _, class := range []string{runtime.ClassOCI, runtime.ClassProcess} {
		ways = append(ways, &way{name: class, run: func() (result, error) {
			jobs++
			return c.nextJob(ctx, jobs, pods, class)
		}})
	}
	if err := byTurns(b.runs+1, ways); err != nil {
		return err
	}
	t := newTable(fmt.Sprintf("(i) Jobs of %d no-op pods through the API, %d at a time, %s", pods, atATimeInHost, whoRuns(h.Info())),
		"runtime class", "pods/s", "CPU ms/pod of the server", "of the host", "of containers")
	var rates []float64
	for _, w := range ways {
		all := w.all[1:] // the first one warms up
		rates = append(rates, medianOf(all, result.rate))
		t.line(w.name, medianOf(all, result.rate), medianOf(all, result.serverEach), medianOf(all, result.hostEach), medianOf(all, result.commandsEach))
	}
	t.print()
	b.judgeBeside("pods/s from an image, beside processes", rates[0], rates[1], atLeast(0.8))
	return nil
}

// nextJob runs the Job of that number, counted from 1.
func (c *cluster) nextJob(ctx context.Context, number, pods int, class string) (result, error) {
	job := noopJob(fmt.Sprint(class, "-", number), pods, atATimeInHost)
	job.Spec.Template.Spec.RuntimeClassName = &class
	job.Spec.Template.Spec.Containers[0].Image = "noop:1"
	wait, err := c.finished(ctx, number)
	if err != nil {
		return result{}, err
	}
	return c.during(ctx, pods, func() error {
		if _, err := c.Jobs().Create(ctx, job); err != nil {
			return err
		}
		return wait()
	})
}
