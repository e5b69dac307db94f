package run

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
)

// fieldManager owns the fields that a run applies.
const fieldManager = "stint"

// submitter brings the objects of a run to the server: it has everything checked, decides which Jobs are new and which
// are there to be continued, and creates what is missing.
type submitter struct {
	*connection
	out output.Output
	// namespace is the user's choice, if there is one.
	namespace string
	// runtimeClass is what a server that stint run starts gives pods that ask for none. runtimeAsked: the user has chosen it.
	runtimeClass string
	runtimeAsked bool
}

func newSubmitter(o Options, c *connection, out output.Output) *submitter {
	return &submitter{connection: c, out: out, namespace: o.Target.Namespace, runtimeClass: o.RuntimeClass, runtimeAsked: o.RuntimeAsked}
}

// complete gives objects their namespaces, and refuses what could never end.
func (s *submitter) complete(objects []*manifest.Object) error {
	if err := manifest.InNamespace(objects, s.target.Namespace, s.namespace != "", s.namespaced); err != nil {
		return err
	}
	return refuseCycles(objects)
}

// refuseRuntime refuses a choice that this server would not hear of.
func (s *submitter) refuseRuntime() error {
	if !s.runtimeAsked || s.target.Kind == target.Embedded {
		return nil
	}
	return InputError{fmt.Errorf("--runtime is for a server that stint run starts itself, and this run is %s: write runtimeClassName: %s into the pod template",
		s.target.Place(), s.runtimeClass)}
}

// note says where the Jobs run, and what they may not find there.
func (s *submitter) note(jobs []*batchv1.Job) {
	s.out.Note("runs " + s.target.Place())
	if s.target.Kind == target.Cluster {
		return
	}
	class := s.runtimeClass
	if s.target.Kind != target.Embedded {
		class = "" // that server has its own
	}
	processes := asProcesses(jobs, class)
	s.noteImages(processes)
	s.noteRelative(processes)
}

// noteImages says once that images are names only.
func (s *submitter) noteImages(jobs []*batchv1.Job) {
	images := imagesOf(jobs)
	switch n := len(images); {
	case n == 1:
		s.out.Note("image " + images[0] + " is not pulled: commands run on this machine")
	case n > 3:
		images = append(images[:3:3], fmt.Sprintf("%d more", n-3))
		fallthrough
	case n > 1:
		s.out.Note("images " + strings.Join(images, ", ") + " are not pulled: commands run on this machine")
	}
}
