package persistentvolume

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	core "github.com/stint-dev/stint/internal/persistentvolume"
)

// told is the last event about each claim, so that none is repeated with every sync.
type told struct {
	mu   *sync.Mutex
	last map[types.UID]core.Event
}

func newTold() told { return told{&sync.Mutex{}, map[types.UID]core.Event{}} }

// isNew reports whether there is an event, and it is another one than the last.
func (t told) isNew(claim types.UID, e core.Event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return e != core.Event{} && t.last[claim] != e
}

func (t told) set(claim types.UID, e core.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last[claim] = e
}

func (t told) forget(claim types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.last, claim)
}

// errBusy makes a sync wait until another one is done with the volume.
var errBusy = errors.New("another sync works on the volume")

// busy are the volumes that a sync works on: what one binds, no other removes meanwhile.
type busy struct {
	mu      *sync.Mutex
	volumes sets.Set[string]
}

func newBusy() busy { return busy{&sync.Mutex{}, sets.New[string]()} }

// with calls do unless another call is in progress for the volume.
func (b busy) with(volume string, do func() error) error {
	if !b.begin(volume) {
		return errBusy
	}
	defer b.end(volume)
	return do()
}

func (b busy) begin(volume string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.volumes.Has(volume) {
		return false
	}
	b.volumes.Insert(volume)
	return true
}

func (b busy) end(volume string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.volumes.Delete(volume)
}

// choices are the claims for which available volumes have been chosen, until the informer shows the volumes again: claims that
// are bound at the same time do not all choose the same volume.
type choices struct {
	mu     *sync.Mutex
	claims map[string]types.UID
}

func newChoices() choices { return choices{&sync.Mutex{}, map[string]types.UID{}} }

// decide calls decide, to which a volume is free that is not chosen for another claim.
func (c choices) decide(claim types.UID, decide func(isFree func(volume string) bool) core.ClaimDecision) core.ClaimDecision {
	c.mu.Lock()
	defer c.mu.Unlock()
	return decide(func(volume string) bool {
		by, chosen := c.claims[volume]
		return !chosen || by == claim
	})
}

// choose is decide, and chooses the volume that the claim is to be bound to.
func (c choices) choose(claim types.UID, decide func(isFree func(volume string) bool) core.ClaimDecision) core.ClaimDecision {
	return c.decide(claim, func(isFree func(volume string) bool) core.ClaimDecision {
		d := decide(isFree)
		if d.Action == core.Bind {
			c.claims[d.Volume.Name] = claim
		}
		return d
	})
}

func (c choices) drop(volume string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.claims, volume)
}
