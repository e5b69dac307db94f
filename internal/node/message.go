package node

import (
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podspec"
)

// validUTF8YAML replaces characters of a termination message that YAML cannot hold, on which kubectl get -o yaml would
// fail for the whole pod.
func validUTF8YAML(message string) string {
	return strings.Map(func(r rune) rune {
		if r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(message, string(utf8.RuneError)))
}

// withMessage sets the termination message of a failed container that left none to the end of its log, if
// terminationMessagePolicy says so.
func (w *podWorkers) withMessage(api *corev1.Pod, s runtime.Status) runtime.Status {
	s.TerminationMessage = validUTF8YAML(s.TerminationMessage)
	if api == nil || s.State != runtime.Exited || s.ExitCode == 0 || s.TerminationMessage != "" || !fallsBackToLogs(api, s.Container) {
		return s
	}
	text, err := w.logs.Tail(api, s.Container, s.Attempt)
	if err != nil {
		text = "the log could not be read: " + err.Error()
	}
	s.TerminationMessage = validUTF8YAML(lifecycle.WithLoss(&s, text))
	return s
}

func fallsBackToLogs(api *corev1.Pod, container string) bool {
	c := podspec.Container(&api.Spec, container)
	return c != nil && c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError
}
