package host

import (
	"context"
	"testing"
)

func TestARequestEndsWhenItIsCancelledAndWithItsControlPlane(t *testing.T) {
	plane, hangUp := context.WithCancel(t.Context())
	s := &session{cancels: map[uint64]context.CancelFunc{}}
	first, second := s.begin(plane, 1), s.begin(plane, 2)
	s.cancel(1)
	s.cancel(1)
	s.cancel(3)
	if first.Err() == nil || second.Err() != nil {
		t.Errorf("they have ended with %v and %v", first.Err(), second.Err())
	}
	hangUp()
	if second.Err() == nil {
		t.Error("it goes on for a control plane that has hung up")
	}
}
