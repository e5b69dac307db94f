package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/image/progress"
)

// tellPullsEvery is how often the node's object tells how far pulls are, and how long a pull takes before it is told of.
const tellPullsEvery = time.Second

// tellPulls keeps the annotation of the node's object that tells how far pulls are.
func (n *Node) tellPulls(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.pulling:
		}
		n.tellUntilPulled(ctx)
	}
}

// tellUntilPulled returns when no pull runs any more, and none is told of.
func (n *Node) tellUntilPulled(ctx context.Context) {
	ticker := time.NewTicker(tellPullsEvery)
	defer ticker.Stop()
	told := ""
	for {
		select {
		case <-ctx.Done():
			return // the next one to run takes the annotation away
		case <-ticker.C:
		}
		text, some := n.pullsText()
		if text != told {
			if err := n.tellPull(ctx, text); err != nil {
				n.log(ctx, "tell how far pulls are", err)
			} else {
				told = text
			}
		}
		if !some && told == "" {
			return
		}
	}
}

func (n *Node) tellPull(ctx context.Context, text string) error {
	object, err := n.Client.Nodes().Get(ctx, "", n.name)
	if err != nil {
		return err
	}
	_, err = n.Client.Nodes().Modify(ctx, object, func(o *corev1.Node) {
		if o.Annotations == nil {
			o.Annotations = map[string]string{}
		}
		annotate(o.Annotations, progress.Annotation, text)
	})
	return err
}

// pullsText is what the annotation should say, and whether pulls run.
func (n *Node) pullsText() (text string, some bool) {
	if n.images == nil {
		return "", false
	}
	pulls, some := n.images.Pulls(now().Add(-tellPullsEvery))
	return progress.Text(pulls), some
}

// pullBegins has pulls be told of.
func (n *Node) pullBegins() {
	select {
	case n.pulling <- struct{}{}:
	default:
	}
}
