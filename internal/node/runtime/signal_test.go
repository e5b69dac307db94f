package runtime_test

import (
	"testing"

	"github.com/stint-dev/stint/internal/node/runtime"
)

func TestSignals(t *testing.T) {
	for name, want := range map[string]int32{
		"SIGTERM": 15, "SIGKILL": 9, "SIGUSR1": 10, "SIGIOT": 6, "SIGCLD": 17, "SIGPOLL": 29,
		"SIGRTMIN": 34, "SIGRTMIN+1": 35, "SIGRTMIN+15": 49, "SIGRTMAX-14": 50, "SIGRTMAX": 64, "SIGRTMAX-30": 34,
		"": 0, "TERM": 0, "15": 0, "SIGRTMIN-1": 0, "SIGRTMAX+1": 0, "SIGRTMIN+31": 0, "SIGRTMAX-31": 0, "SIGRTMIN1": 0,
		"SIGRTMIN+": 0, "SIGRTMIN+0": 0, "SIGRT": 0, "sigterm": 0,
	} {
		if got, known := runtime.SignalNumber(name); got != want || known != (want != 0) {
			t.Errorf("%q: %d, %t, want %d", name, got, known, want)
		}
	}
}
