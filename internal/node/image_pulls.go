package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/node/images"
)

// annotatePullsEvery is how often the annotation is updated, and how long a pull runs before it is listed there.
const annotatePullsEvery = time.Second

// pullProgress maintains the Node's annotation about the progress of pulls.
type pullProgress struct {
	nodes client.Resource[*corev1.Node]
	node  string
	// images is nil if containers cannot run from images.
	images *images.Manager
	// begun receives a value when a pull begins.
	begun chan struct{}
}

// run updates the annotation until ctx ends.
func (p *pullProgress) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.begun:
		}
		p.annotateUntilPulled(ctx)
	}
}

// annotateUntilPulled updates the annotation until no pull runs and the annotation is removed.
func (p *pullProgress) annotateUntilPulled(ctx context.Context) {
	ticker := time.NewTicker(annotatePullsEvery)
	defer ticker.Stop()
	written := ""
	for {
		select {
		case <-ctx.Done():
			return // the next run of the node removes the annotation
		case <-ticker.C:
		}
		text, running := p.text()
		if text != written {
			if err := p.write(ctx, text); err != nil {
				warn(ctx, "annotate the progress of pulls", err)
			} else {
				written = text
			}
		}
		if !running && written == "" {
			return
		}
	}
}

func (p *pullProgress) write(ctx context.Context, text string) error {
	object, err := p.nodes.Get(ctx, "", p.node)
	if err != nil {
		return err
	}
	_, err = p.nodes.Modify(ctx, object, func(o *corev1.Node) {
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		annotate(o.Annotations, progress.Annotation, text)
	})
	return err
}

// text returns the value for the annotation, and whether any pull runs.
func (p *pullProgress) text() (text string, running bool) {
	if p.images == nil {
		return "", false
	}
	pulls, running := p.images.Pulls(time.Now().Add(-annotatePullsEvery))
	return progress.Text(pulls), running
}

// pullBegan wakes run.
func (p *pullProgress) pullBegan() {
	select {
	case p.begun <- struct{}{}:
	default:
	}
}
