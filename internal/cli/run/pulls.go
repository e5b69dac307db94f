package run

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/image/progress"
)

// pull is the pull of an image that pods of this run wait for.
type pull struct {
	node  string
	since time.Time
	// found is the progress that the node reports, printed the progress that was shown. Without a total they are unset.
	found, printed progress.Pull
}

// observePulls records which images a pod waits for, and which have been pulled.
func (w *waitingPods) observePulls(p *podWait, pod *corev1.Pod, over bool) {
	before := p.pulling
	p.node, p.pulling = pod.Spec.NodeName, nil
	if !over {
		p.pulling = progress.Images(pod)
	}
	for _, image := range p.pulling {
		delete(w.arrived, image)
	}
	got := hasRun(pod) || !over && waitReasonOf(pod).reason == ""
	for _, image := range before {
		if got && !slices.Contains(p.pulling, image) {
			w.arrived[image] = true
		}
	}
}

// pulls shows the progress of the image pulls that pods of a run wait for.
type pulls struct {
	*connection
	out  output.Output
	jobs *tracker

	mu      sync.Mutex
	byImage map[string]*pull
	// asking is set while the nodes are read, which began at askedAt.
	asking  bool
	askedAt time.Time
}

// print shows what has changed. Nodes are read only while pods wait for images. Nodes of clusters do not report pulls.
func (p *pulls) print(ctx context.Context) {
	if p.target.Kind == target.Cluster {
		return
	}
	for _, pull := range p.changes(ctx, time.Now()) {
		p.out.Pull(pull)
	}
}

func (p *pulls) changes(ctx context.Context, now time.Time) (changed []output.Pull) {
	awaited, arrived := p.jobs.pulls()
	p.mu.Lock()
	defer p.mu.Unlock()
	for image, node := range awaited {
		if p.byImage[image] == nil {
			p.byImage[image] = &pull{node: node, since: now}
		}
	}
	for image, is := range p.byImage {
		_, waits := awaited[image]
		if !waits {
			delete(p.byImage, image)
		}
		switch {
		case !waits && is.printed.Total > 0:
			changed = append(changed, is.end(arrived[image], now))
		case waits && is.found != is.printed:
			is.printed = is.found
			changed = append(changed, output.Pull{Pull: is.printed, At: now, Took: now.Sub(is.since)})
		}
	}
	if len(p.byImage) > 0 && !p.asking && now.Sub(p.askedAt) >= minRetryQuery {
		p.asking, p.askedAt = true, now
		go p.ask(ctx)
	}
	return changed
}

// end is the end of a pull that was shown.
func (p *pull) end(arrived bool, now time.Time) output.Pull {
	end := output.Pull{Pull: p.printed, At: now, Took: now.Sub(p.since), Ended: true, Arrived: arrived}
	if arrived {
		end.Done = end.Total
	}
	return end
}

// ask reads the progress of pulls from the nodes.
func (p *pulls) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, p.lateDataTimeout)
	defer cancel()
	found := map[string][]progress.Pull{}
	for _, name := range p.nodes() {
		if node, err := p.core().Nodes().Get(ctx, name, metav1.GetOptions{}); err == nil {
			found[name] = progress.Of(node)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asking = false
	for node, pulls := range found {
		for _, is := range pulls {
			known := p.byImage[is.Image]
			if known != nil && known.node == node && is.Total > 0 {
				known.found = is
			}
		}
	}
}

// nodes returns the names of the nodes that pull.
func (p *pulls) nodes() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, is := range p.byImage {
		if !slices.Contains(names, is.node) {
			names = append(names, is.node)
		}
	}
	return names
}

// pulls returns the images that pods wait for, with the node of one of the pods, and the images that have been pulled.
func (r *tracker) pulls() (awaited map[string]string, arrived map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	awaited, arrived = map[string]string{}, map[string]bool{}
	for _, t := range r.byUID {
		maps.Copy(arrived, t.waitingPods.arrived)
		if t.ended {
			continue
		}
		for _, p := range t.waitingPods.pods {
			for _, image := range p.pulling {
				awaited[image] = p.node
			}
		}
	}
	return awaited, arrived
}
