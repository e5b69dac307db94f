package server

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/internal/store"
)

func TestWhetherOtherMachinesReachAServer(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:7443": true, "127.1.2.3:0": true, "[::1]:7443": true, "localhost:7443": true,
		"0.0.0.0:7443": false, "[::]:7443": false, ":7443": false, "192.0.2.5:7443": false, "build.example:7443": false,
	} {
		if got := onlyLocal(address); got != want {
			t.Errorf("%s: only local %v, want %v", address, got, want)
		}
	}
}

func TestAServerWaitsForALock(t *testing.T) {
	const limit = time.Minute
	tests := map[string]struct {
		held  time.Duration
		start bool
		took  time.Duration
	}{
		"nothing holds it":                {0, true, 0},
		"it is held for a moment":         {time.Second, true, time.Second},
		"it is held nearly until the end": {limit - time.Second, true, limit - time.Second},
		"it is held for too long":         {time.Hour, false, limit},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var want server.Server
				got, err := whenUnlocked(t.Context(), limit, func() (*server.Server, error) {
					if time.Since(begun) < tt.held {
						return nil, &store.LockedError{Dir: "d", PID: 1}
					}
					return &want, nil
				})
				var locked *store.LockedError
				if tt.start && (err != nil || got != &want) || !tt.start && !errors.As(err, &locked) {
					t.Errorf("got %v, %v", got, err)
				}
				if took := time.Since(begun); took < tt.took || took > tt.took+time.Second {
					t.Errorf("took %s, want about %s", took, tt.took)
				}
			})
		})
	}
}
