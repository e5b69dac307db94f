package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/memory"
)

// Election are the settings of leader election by a Lease.
type Election struct {
	Namespace, Name string
	// LeaseDuration is how long the others wait before they replace a leader that does not renew.
	LeaseDuration time.Duration
	// RenewDeadline is how long the leader tries to renew before it gives up.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two tries.
	RetryPeriod time.Duration
}

// lead waits for the lease, runs the controllers while it is held, and releases it once the last write is done.
func (p *process) lead(ctx context.Context) error {
	t, err := p.newLeaseHolder()
	if err != nil {
		return err
	}
	// The lease is held after the end of ctx, until the last write.
	electing, stopElecting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopElecting()
	working, stopWorking := context.WithCancel(ctx)
	defer stopWorking()
	won, ended, err := p.elect(electing, t)
	if err != nil {
		return err
	}
	select {
	case <-won:
	case <-ctx.Done():
		stopElecting()
		<-ended
		return t.release(ctx)
	}
	worked := make(chan error, 1)
	go func() { worked <- p.work(working, t.guard(p.Config)) }()
	select {
	case err := <-worked:
		stopElecting()
		<-ended
		if errors.Is(err, errBusy) {
			return err
		}
		return errors.Join(err, t.release(ctx))
	case <-ended:
	case <-t.lost:
	}
	t.end()
	return fmt.Errorf("lost the lease %s%s: exiting, so that there are never two leaders", t.Describe(), t.successor())
}

// elect tries to acquire the lease and renews it, until ctx ends or the lease is lost.
func (p *process) elect(ctx context.Context, t *leaseHolder) (won, ended chan struct{}, err error) {
	won, ended = make(chan struct{}), make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: t, Name: p.Election.Name,
		LeaseDuration: p.Election.LeaseDuration, RenewDeadline: p.Election.RenewDeadline, RetryPeriod: p.Election.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(won) },
			OnStoppedLeading: func() {},
			OnNewLeader: func(leader string) {
				klog.FromContext(ctx).Info("Leader", "lease", t.Describe(), "leader", leader, "self", leader == t.Identity())
				if leader != t.Identity() && p.stage.CompareAndSwap(starting, standby) {
					memory.DropStartup()
				}
			},
		},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("leader election: %w", err)
	}
	go func() {
		defer close(ended)
		elector.Run(ctx)
	}()
	return won, ended, nil
}

func (p *process) newLeaseHolder() (*leaseHolder, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	e := p.Election
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, e.Namespace, e.Name,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())}, p.Config, e.RenewDeadline)
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	return &leaseHolder{Interface: lock, duration: e.LeaseDuration, lost: make(chan struct{})}, nil
}

// release releases the lease, if it is held, so that a standby need not wait until it expires. The elector must have stopped.
func (t *leaseHolder) release(ctx context.Context) error {
	if !t.begun() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.duration)
	defer cancel()
	for {
		record, _, err := t.Interface.Get(ctx)
		if apierrors.IsNotFound(err) || err == nil && record.HolderIdentity != t.Identity() {
			return nil
		}
		if err == nil {
			now := metav1.Now()
			err = t.Interface.Update(ctx, resourcelock.LeaderElectionRecord{
				LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: now})
		}
		if err == nil {
			return nil
		}
		if !apierrors.IsConflict(err) {
			return fmt.Errorf("releasing the lease %s, so that a standby waits until it expires: %w", t.Describe(), err)
		}
	}
}
