package run

import (
	"context"
	"slices"
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
	// found is what the node has told of it, told what the user knows; without a total, nothing.
	found, told progress.Pull
}

// observePulls takes in which images a pod waits for, and which it has got.
func (w *waits) observePulls(p *podWait, pod *corev1.Pod, over bool) {
	before := p.pulling
	p.node, p.pulling = pod.Spec.NodeName, nil
	if !over {
		p.pulling = progress.Images(pod)
	}
	for _, image := range p.pulling {
		delete(w.arrived, image)
	}
	got := hasRun(pod) || !over && hindranceOf(pod).reason == ""
	for _, image := range before {
		if got && !slices.Contains(p.pulling, image) {
			w.arrived[image] = true
		}
	}
}

// tellPulls says how far the pulls are that pods of this run wait for. Their nodes are asked only while there are some; those of
// clusters do not tell.
func (s *session) tellPulls(ctx context.Context) {
	if s.target.Kind == target.Cluster {
		return
	}
	for _, p := range s.newsOfPulls(ctx, time.Now()) {
		s.out.Pull(p)
	}
}

func (s *session) newsOfPulls(ctx context.Context, now time.Time) (news []output.Pull) {
	s.mu.Lock()
	defer s.mu.Unlock()
	awaited := s.awaitedPulls()
	for image, node := range awaited {
		if s.pulls[image] == nil {
			s.pulls[image] = &pull{node: node, since: now}
		}
	}
	for image, p := range s.pulls {
		_, waits := awaited[image]
		if !waits {
			delete(s.pulls, image)
		}
		switch {
		case !waits && p.told.Total > 0:
			news = append(news, s.ended(p, now))
		case waits && p.found != p.told:
			p.told = p.found
			news = append(news, output.Pull{Pull: p.told, At: now, Took: now.Sub(p.since)})
		}
	}
	if len(s.pulls) > 0 && !s.askingPulls && now.Sub(s.askedPullsAt) >= askPause {
		s.askingPulls, s.askedPullsAt = true, now
		go s.askPulls(ctx)
	}
	return news
}

// awaitedPulls are the images that pods wait for, with the node of one of them. The caller holds the lock.
func (s *session) awaitedPulls() map[string]string {
	awaited := map[string]string{}
	for _, t := range s.jobs {
		if t.ended {
			continue
		}
		for _, p := range t.waits.pods {
			for _, image := range p.pulling {
				awaited[image] = p.node
			}
		}
	}
	return awaited
}

// ended is the end of a pull that the user knows of. The caller holds the lock.
func (s *session) ended(p *pull, now time.Time) output.Pull {
	end := output.Pull{Pull: p.told, At: now, Took: now.Sub(p.since), Ended: true}
	for _, t := range s.jobs {
		end.Arrived = end.Arrived || t.waits.arrived[p.told.Image]
	}
	if end.Arrived {
		end.Done = end.Total
	}
	return end
}

// askPulls asks the nodes how far they are.
func (s *session) askPulls(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	found := map[string][]progress.Pull{}
	for _, name := range s.pullingNodes() {
		if node, err := s.core().Nodes().Get(ctx, name, metav1.GetOptions{}); err == nil {
			found[name] = progress.Of(node)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.askingPulls = false
	for node, pulls := range found {
		for _, is := range pulls {
			p := s.pulls[is.Image]
			if p != nil && p.node == node && is.Total > 0 {
				p.found = is
			}
		}
	}
}

func (s *session) pullingNodes() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pulls {
		if !slices.Contains(names, p.node) {
			names = append(names, p.node)
		}
	}
	return names
}
