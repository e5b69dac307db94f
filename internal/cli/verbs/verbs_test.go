package verbs

import (
	"bytes"
	"fmt"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/visible"
)

func TestDebugPassesOnTheOutputOfAContainerAndNoMessages(t *testing.T) {
	var out, problems bytes.Buffer
	s := outputUnchanged(genericiooptions.IOStreams{Out: visible.NewWriter(&out), ErrOut: visible.NewWriter(&problems)})
	fmt.Fprint(s.Out, "\x1b[1mbold")
	fmt.Fprint(s.ErrOut, "Warning: container look: \x1b[1mbold")
	if out.String() != "\x1b[1mbold" || problems.String() != `Warning: container look: \x1b[1mbold` {
		t.Errorf("%q and %q", &out, &problems)
	}
}
