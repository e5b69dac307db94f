package process

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// orphanTime is how long to wait for a host to say whether it is orphaned, and for the end of a control plane that uses it. One
// that hangs must not hold up this control plane.
const orphanTime = 3 * time.Second

// orphanPause is the time between two requests to end.
const orphanPause = 50 * time.Millisecond

// errOrphanUsed means that an orphaned host does not end, because it has a control plane.
var errOrphanUsed = errors.New("end that server first")

// endOrphans ends the hosts whose data directories were at the path of this one and were deleted, with their containers, whose
// pods are not stored any more. A data directory that was moved away may be served where it is now, so its host stays.
func endOrphans(ctx context.Context, dataDir, runDir string) error {
	for _, other := range rundir.Others(dataDir, runDir) {
		if err := endIfOrphaned(ctx, dataDir, other); err != nil {
			return err
		}
	}
	return nil
}

// endIfOrphaned leaves alone a host that does not say that it is orphaned, as hosts of older versions do not.
func endIfOrphaned(ctx context.Context, dataDir, runDir string) error {
	soon, cancel := context.WithTimeout(ctx, orphanTime)
	defer cancel()
	conn, welcome, err := greet(soon, runDir, wire.Hello{Protocol: wire.Protocol, Dir: dataDir})
	if err != nil {
		return nil // There is no host, or it cannot say what it is.
	}
	if welcome.Refused != "" || !welcome.Orphaned {
		return conn.Close()
	}
	orphan := newLink(conn, welcome)
	defer orphan.hostLifetime.close()
	go orphan.read(func(runtime.Status) {})
	err = orphan.endAll(ctx)
	orphan.close()
	if err != nil {
		return fmt.Errorf("end the containers of a directory that was at %s and was deleted: %w", dataDir, err)
	}
	if err := askToEnd(ctx, dataDir, runDir); err != nil {
		return err
	}
	orphan.hostLifetime.wait(ctx)
	return ctx.Err()
}

// askToEnd asks a host without containers to end. Its control plane may be about to end, too.
func askToEnd(ctx context.Context, dataDir, runDir string) error {
	limited, cancel := context.WithTimeout(ctx, orphanTime)
	defer cancel()
	for {
		used, _, err := replace(ctx, runDir, dataDir)
		if err != nil {
			return nil // It ends, or has ended.
		}
		err = usedError(used, dataDir)
		used.Close()
		select {
		case <-limited.Done():
			return err
		case <-time.After(orphanPause):
		}
	}
}

func usedError(host *wire.Conn, dataDir string) error {
	peer, err := host.Peer()
	if err != nil {
		return err
	}
	return fmt.Errorf("host process %d is used by the server of a directory that was at %s and was deleted: %w", peer.Pid, dataDir, errOrphanUsed)
}

// endAll ends all containers of the host, and has it forget them.
func (l *link) endAll(ctx context.Context) error {
	all, err := l.ask(ctx, wire.Request{Op: wire.OpList})
	if err != nil {
		return err
	}
	var ids []runtime.ID
	for _, s := range all.Statuses {
		if _, err := l.ask(ctx, wire.Request{Op: wire.OpRemovePod, PodUID: s.PodUID}); err != nil {
			return err
		}
		ids = append(ids, s.ID)
	}
	_, err = l.ask(ctx, wire.Request{Op: wire.OpForget, IDs: ids})
	return err
}
