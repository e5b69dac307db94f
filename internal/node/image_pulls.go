package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/node/images"
)

// annotatePullsEvery is how often the node's object tells how far pulls are, and how long a pull takes before it is told of.
const annotatePullsEvery = time.Second

// pullProgress keeps the annotation of the node's object that tells how far pulls are.
type pullProgress struct {
	nodes client.Resource[*corev1.Node]
	node  string
	// images is nil where containers run from no images.
	images *images.Manager
	// begun gets a value when a pull begins.
	begun chan struct{}
}

// run works until ctx ends.
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

// annotateUntilPulled returns when no pull runs any more, and none is told of.
func (p *pullProgress) annotateUntilPulled(ctx context.Context) {
	ticker := time.NewTicker(annotatePullsEvery)
	defer ticker.Stop()
	written := ""
	for {
		select {
		case <-ctx.Done():
			return // the next one to run takes the annotation away
		case <-ticker.C:
		}
		text, running := p.text()
		if text != written {
			if err := p.write(ctx, text); err != nil {
				warn(ctx, "tell how far pulls are", err)
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

// text is what the annotation should say, and whether pulls run.
func (p *pullProgress) text() (text string, running bool) {
	if p.images == nil {
		return "", false
	}
	pulls, running := p.images.Pulls(now().Add(-annotatePullsEvery))
	return progress.Text(pulls), running
}

// pullBegan has pulls be told of.
func (p *pullProgress) pullBegan() {
	select {
	case p.begun <- struct{}{}:
	default:
	}
}
