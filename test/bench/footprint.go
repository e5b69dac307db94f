package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// footprint is what a server takes, in MB.
type footprint struct {
	// anonymous is RssAnon: what only this process has in memory.
	anonymous float64
	// live is the heap that the last garbage collection has found in use.
	live float64
	// allocated is the sum of all allocations so far.
	allocated float64
	// database is the size of etcd's file.
	database float64
}

// footprint reads what the server takes now. The memory is read before the request, as a request takes memory.
func (s *serverProcess) footprint(ctx context.Context) (f footprint, err error) {
	f.anonymous = memoryOf(s.cmd.Process.Pid).anonymous
	file, err := os.Stat(filepath.Join(s.dir, "etcd", "member", "snap", "db"))
	if err != nil {
		return f, err
	}
	f.database = float64(file.Size()) / 1e6
	page, err := s.set.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return f, fmt.Errorf("read the server's metrics: %w", err)
	}
	live, liveErr := metric(page, "go_gc_heap_live_bytes")
	allocated, allocatedErr := metric(page, "go_gc_heap_allocs_bytes_total")
	f.live, f.allocated = live/1e6, allocated/1e6
	return f, errors.Join(liveErr, allocatedErr)
}

// metric reads one metric without labels from a page of them.
func metric(page []byte, name string) (float64, error) {
	for line := range bytes.Lines(page) {
		if value, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			return strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
		}
	}
	return 0, fmt.Errorf("the server's metrics have no %s", name)
}

// followMemory reads what the server takes until stop is called, which returns the highest values.
func (s *serverProcess) followMemory(ctx context.Context) (stop func() (footprint, error)) {
	var most footprint
	var failure error
	end := often(ctx, 2*time.Second, func(ctx context.Context) {
		now, err := s.footprint(ctx)
		if err != nil && ctx.Err() == nil {
			failure = err
		}
		most.live, most.database = max(most.live, now.live), max(most.database, now.database)
	})
	peak := followAnonymous(ctx, s.cmd.Process.Pid)
	return func() (footprint, error) {
		end()
		most.anonymous = peak()
		return most, failure
	}
}

// followAnonymous reads the RssAnon of a process until stop is called, which returns the highest value.
func followAnonymous(ctx context.Context, pid int) (stop func() float64) {
	most := 0.0
	end := often(ctx, 50*time.Millisecond, func(context.Context) { most = max(most, memoryOf(pid).anonymous) })
	return func() float64 { end(); return most }
}

// often calls do at once and then after each interval, until end is called.
func often(ctx context.Context, interval time.Duration, do func(context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			do(ctx)
			if pause(ctx, interval) != nil {
				return
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// stored is how many objects the server stores.
type stored struct{ pods, others int }

const podList = "/api/v1/pods"

// otherKinds are the kinds of which a load leaves many.
var otherKinds = []string{"/apis/batch/v1/jobs", "/apis/batch/v1/cronjobs", "/api/v1/events",
	"/apis/stint.dev/v1/resultslices", "/apis/stint.dev/v1/scheduledjobs"}

func (s *serverProcess) stored(ctx context.Context) (n stored, err error) {
	if n.pods, err = s.count(ctx, podList); err != nil {
		return n, err
	}
	for _, kind := range otherKinds {
		k, err := s.count(ctx, kind)
		if err != nil {
			return n, err
		}
		n.others += k
	}
	return n, nil
}

// count returns how many objects there are in a list, of which it reads one.
func (s *serverProcess) count(ctx context.Context, list string) (int, error) {
	text, err := s.set.RESTClient().Get().AbsPath(list).Param("limit", "1").SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", list, err)
	}
	var page struct {
		Metadata struct{ RemainingItemCount int }
		Items    []json.RawMessage
	}
	err = json.Unmarshal(text, &page)
	return page.Metadata.RemainingItemCount + len(page.Items), err
}

// atRestAim is what a server may take half a minute after any load.
func (n stored) atRestAim() aim {
	const base, pod, other = 40, 0.008, 0.004
	return atMost(base + pod*float64(n.pods) + other*float64(n.others))
}

// underLoadAim is what a server may take under load.
func (f footprint) underLoadAim() aim { return atMost(2*f.live + 64) }
