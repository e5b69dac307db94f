package run

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/run/dirclaim"
	"github.com/stint-dev/stint/internal/cli/target"
)

// fieldManager is the field manager of server-side apply.
const fieldManager = "stint"

// submitter sends the objects of a run to the server: a dry run of all, then it decides for each Job whether it is created,
// replaced or followed, and creates the objects.
type submitter struct {
	*connection
	out output.Output
	// namespace is that of the flag -n, if given.
	namespace string
	// runtimeClass is the default of an embedded server. runtimeAsked is set if it comes from the command line.
	runtimeClass string
	runtimeAsked bool
	// classesAsked is set if the command line names StorageClasses for an embedded server.
	classesAsked bool
	// asked are the claims of the flag --claim, and claims what they are in this run.
	asked  []dirclaim.Claim
	claims []claimIn
}

func newSubmitter(o Options, c *connection, out output.Output) *submitter {
	return &submitter{connection: c, out: out, namespace: o.Target.Namespace, runtimeClass: o.RuntimeClass, runtimeAsked: o.RuntimeAsked,
		classesAsked: o.ClassesAsked, asked: o.Claims}
}

// complete sets the namespaces of objects, finds the claims to make for them, and refuses cyclic dependencies.
func (s *submitter) complete(objects []*manifest.Object) error {
	if err := manifest.InNamespace(objects, s.target.Namespace, s.namespace != "", s.namespaced); err != nil {
		return err
	}
	if err := s.planClaims(objects); err != nil {
		return err
	}
	return refuseCycles(objects)
}

// refuseFlags refuses flags that would have no effect, as the server is not embedded.
func (s *submitter) refuseFlags() error {
	if s.target.Kind == target.Embedded {
		return nil
	}
	if s.runtimeAsked {
		return InputError{fmt.Errorf("--runtime is for a server that stint run starts itself, and this run is %s: write runtimeClassName: %s into the pod template",
			s.target.Place(), s.runtimeClass)}
	}
	if s.classesAsked {
		return InputError{fmt.Errorf("--local-storage-classes is for a server that stint run starts itself, and this run is %s: %s",
			s.target.Place(), s.remedyForClasses())}
	}
	return nil
}

func (s *submitter) remedyForClasses() string {
	if s.target.Kind == target.Cluster {
		return "leave it out"
	}
	return "start that server with the flag"
}

// note shows where the Jobs run, and warns of images and files that processes will not use.
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

// noteImages says that the images are not pulled.
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
