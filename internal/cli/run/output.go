package run

import (
	"io"
	"os"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/output"
)

// NewOutput returns the output that the flags and the streams ask for.
func NewOutput(streams genericiooptions.IOStreams, asJSON, quiet bool) output.Output {
	// The messages include the last lines of containers' logs, which must not be escaped.
	words := output.Raw(streams.ErrOut)
	switch {
	case asJSON:
		return output.NewJSON(streams.Out, time.Now)
	case quiet:
		return output.NewQuiet(streams.Out, words, sameFile(streams.Out, words))
	case output.IsTerminal(streams.Out):
		return output.NewLive(streams.Out.(*os.File))
	}
	return output.NewPlain(streams.Out, words, sameFile(streams.Out, words))
}

// sameFile reports whether two streams end in the same place, such as a CI log.
func sameFile(a, b io.Writer) bool {
	infos := make([]os.FileInfo, 0, 2)
	for _, w := range []io.Writer{a, b} {
		if out, ok := w.(*command.Output); ok {
			w = out.To
		}
		f, ok := w.(*os.File)
		if !ok {
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
