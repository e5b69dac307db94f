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
// A failed store no longer answers requests, not even with an error, so that parts which wait for it would stop
// after many minutes or never. They can be abandoned: acknowledged writes are on the disk, as after kill -9.
func (p *components) outcome(stopped <-chan error, stop context.CancelCauseFunc) error {
	select {
	case err := <-stopped:
		return err
	case cause := <-p.store.Failed():
		err := fmt.Errorf("the store cannot write any more: %w; acknowledged writes are safe and pods keep running: fix this (make room on the disk) and start again", cause)
		stop(err)
		select {
		case <-stopped: //nolint:errcheck // The store's failure explains all others.
		case <-time.After(failedStop):
		}
		return err
	}
}
