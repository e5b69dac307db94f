package server

import (
	"context"
	"fmt"
	"time"
)

// failedStop is how long the parts may take to stop once the store has failed.
const failedStop = 2 * time.Second

// outcome returns when everything has stopped, or soon after the store has failed (a full disk).
//
// A store that has failed answers no request any more, not even with an error, so whoever waits for it would stop
// after many minutes or never. Leaving them behind harms nothing: what was acknowledged is on the disk, as it is after
// kill -9.
func (p *components) outcome(stopped <-chan error, stop context.CancelCauseFunc) error {
	select {
	case err := <-stopped:
		return err
	case cause := <-p.store.Failed():
		err := fmt.Errorf("the store can take no more writes: %w; what was acknowledged is safe and pods run on: mend this (make room on the disk) and start again", cause)
		stop(err)
		select {
		case <-stopped: //nolint:errcheck // The store's failure explains whatever else failed.
		case <-time.After(failedStop):
		}
		return err
	}
}
