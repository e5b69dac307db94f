package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/process/sandbox"
	"github.com/stint-dev/stint/internal/node/process/wire"
)

func TestAnIdleHostEnds(t *testing.T) {
	config := Config{StartTimeout: time.Hour, IdleExit: time.Second}
	owner, err := rundir.OpenOwner(t.TempDir(), "run")
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	for name, tc := range map[string]struct {
		live    int
		greeted bool
		want    time.Duration
	}{
		"it waits for the control plane that has started it": {0, false, config.StartTimeout},
		"and soon ends after the last one":                   {0, true, config.IdleExit},
		"it stays with its containers":                       {1, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				h := &Host{config: config, owner: owner, sandbox: &sandbox.Sandbox{}, live: tc.live, sessions: map[*session]bool{}, done: make(chan struct{})}
				h.mu.Lock()
				h.updateIdleTimer()
				h.mu.Unlock()
				if tc.greeted {
					s, welcome := h.admit(nil, wire.Hello{Protocol: wire.Protocol})
					if welcome.Refused != "" {
						t.Fatal(welcome.Refused)
					}
					h.leave(s)
				}
				var took time.Duration
				select {
				case <-h.done:
					took = time.Since(begun)
				case <-time.After(24 * time.Hour):
				}
				if took != tc.want {
					t.Errorf("ended after %s, want %s", took, tc.want)
				}
			})
		})
	}
}
