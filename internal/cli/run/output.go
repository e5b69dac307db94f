package run

import (
	"io"
	"os"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/visible"
)

// NewOutput returns the output that the flags and the streams ask for.
func NewOutput(streams genericiooptions.IOStreams, asJSON, quiet bool) output.Output {
	// The output of containers is passed on, also where a message ends in the last lines of a log.
	logs, words := visible.Unchanged(streams.Out), visible.Unchanged(streams.ErrOut)
	switch {
	case asJSON:
		return output.NewJSON(streams.Out, time.Now)
	case quiet:
		return output.NewQuiet(logs, words, sameFile(logs, words))
	case output.IsTerminal(streams.Out):
		return output.NewLive(output.File(logs))
	}
	return output.NewPlain(logs, words, sameFile(logs, words))
}

// sameFile reports whether two streams end in the same place, such as a CI log.
func sameFile(a, b io.Writer) bool {
	infos := make([]os.FileInfo, 0, 2)
	for _, w := range []io.Writer{a, b} {
		f := output.File(w)
		if f == nil {
			return false
		}
		info, err := f.Stat()
		if err != nil {
			return false
		}
		infos = append(infos, info)
	}
	return os.SameFile(infos[0], infos[1])
}
