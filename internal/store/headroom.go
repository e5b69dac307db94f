package store

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"path/filepath"
	"sync"

	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sys/unix"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/filesystem"
)

const (
	// burstBytes is at most how much is written at the same time. It is more than the largest request has.
	burstBytes = 4 << 20
	// lookBytes is how much is written between two looks at the headroom. With burstBytes it is less than a segment of the log, so
	// that of two segments ahead at most one is begun in between.
	lookBytes = 1 << 20
	// entryBytes is more than an entry of the log takes beside the value.
	entryBytes = 1 << 10
	// shareBytes is what a write takes of burstBytes beside the value, so that few are written at the same time.
	shareBytes = 16 << 10
	// plentyBytes is more free space than others take within moments.
	plentyBytes = 64 << 20
	// snapshotBytes is more than a snapshot takes.
	snapshotBytes = 1 << 20
	// firstStartBytes is how much must be free for the first start.
	firstStartBytes = 2*spareBytes + segmentBytes
)

// headroom keeps disk space for what etcd writes next: etcd ends for good when it finds none. The space is allocated in etcd's own
// files, so that other programs cannot take it:
//
//	member/wal/0.tmp, 1.tmp   the next two segments of the log; etcd names them so, and uses those that are there
//	member/snap/db            the database, also beyond its end
//	spare/                    segments for the time when the disk is full
//
// When the disk has no room for more, the spare segments are used, and less and less is written: see room.
type headroom struct {
	kubernetes.Interface
	dir string
	// readOnly means that nothing is written but what etcd itself writes when it starts.
	readOnly bool
	// database and snapshots are those of the running etcd.
	database  database
	snapshots *snapshots
	spares    spares
	// writing is taken by writes, a unit for each byte.
	writing *semaphore.Weighted

	mu sync.Mutex
	// written is how many bytes were written since the last look.
	written int64
	room    room
	// problem is why room is not enough.
	problem error
}

// database has the sizes of etcd's database, in bytes: Size is up to its last page, and SizeInUse without free pages.
type database interface {
	Size() int64
	SizeInUse() int64
}

// room is how much room the disk has, as of the last look.
type room int

const (
	// full means that etcd may soon find no space: only deletions are written.
	full room = iota
	// scarce means that no spare segment is left: what exists is updated.
	scarce
	// tight means that something else is missing: objects that expire, which are Events, are created.
	tight
	// enough means that all is allocated.
	enough
)

// newHeadroom returns the headroom of the files in etcd's directory.
func newHeadroom(etcdDir string, readOnly bool) *headroom {
	return &headroom{dir: etcdDir, readOnly: readOnly, room: enough, spares: spares{filepath.Join(etcdDir, "spare")}, writing: semaphore.NewWeighted(burstBytes)}
}

// start adds the headroom of the running etcd. Writes go on to next.
func (h *headroom) start(next kubernetes.Interface, server *etcdserver.EtcdServer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Interface, h.database = next, server.Backend()
	h.snapshots = &snapshots{dir: filepath.Join(h.dir, "member", "snap"), server: server}
	if !h.readOnly {
		h.extendLog()
	}
	h.look()
}

// OptimisticPut implements kubernetes.Interface.
func (h *headroom) OptimisticPut(ctx context.Context, key string, value []byte, expected int64, o kubernetes.PutOptions) (kubernetes.PutResponse, error) {
	bytes, err := h.begin(ctx, len(value))
	if err != nil {
		return kubernetes.PutResponse{}, err
	}
	defer h.writing.Release(bytes)
	if err := h.refusal(expected == 0, o.LeaseID != 0); err != nil {
		return refuse(ctx, h.Interface, key, expected == 0, err)
	}
	return h.Interface.OptimisticPut(ctx, key, value, expected, o)
}

// OptimisticDelete implements kubernetes.Interface. Deletions are never refused: they make room, and take little.
func (h *headroom) OptimisticDelete(ctx context.Context, key string, expected int64, o kubernetes.DeleteOptions) (kubernetes.DeleteResponse, error) {
	bytes, err := h.begin(ctx, 0)
	if err != nil {
		return kubernetes.DeleteResponse{}, err
	}
	defer h.writing.Release(bytes)
	return h.Interface.OptimisticDelete(ctx, key, expected, o)
}

// begin waits until less than burstBytes are being written, and looks at the headroom if it is time to.
func (h *headroom) begin(ctx context.Context, value int) (bytes int64, err error) {
	if err := h.passSnapshot(ctx); err != nil {
		return 0, err
	}
	bytes = min(int64(value)+shareBytes, burstBytes)
	if err := h.writing.Acquire(ctx, bytes); err != nil {
		return 0, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.written += int64(value) + entryBytes; h.written > lookBytes {
		h.look()
	}
	return bytes, nil
}

// passSnapshot has etcd make its next snapshot now if that is near and the disk is full: a spare segment is given up just before.
func (h *headroom) passSnapshot(ctx context.Context) error {
	if h.readOnly || !h.snapshots.isNear() || freeBytes(h.dir) >= plentyBytes {
		return nil
	}
	if err := h.writing.Acquire(ctx, burstBytes); err != nil {
		return err
	}
	defer h.writing.Release(burstBytes)
	if !h.snapshots.isNear() {
		return nil // Another write has waited for it.
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	ctx = context.WithoutCancel(ctx) // A spare segment that was given up for nothing is lost.
	h.snapshots.write(ctx, h.snapshots.left()-lastEntries)
	if !h.spares.giveUp() && freeBytes(h.dir) < snapshotBytes {
		h.room, h.problem = full, unix.ENOSPC
		return h.exceeded(false)
	}
	h.snapshots.write(ctx, 2*lastEntries)
	h.look()
	return nil
}

// freeBytes returns how much of the disk is free.
func freeBytes(dir string) int64 {
	space, err := filesystem.SpaceOf(dir)
	if err != nil || space.Bytes == 0 {
		return math.MaxInt64
	}
	return space.BytesAvailable
}

// refusal returns why an object cannot be written, if so.
func (h *headroom) refusal(creates, expires bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	needed := scarce
	switch {
	case creates && expires:
		needed = tight
	case creates:
		needed = enough
	}
	if h.room < needed {
		return h.exceeded(creates)
	}
	return nil
}

func (h *headroom) exceeded(creates bool) error {
	refused := "no objects can be created"
	if !creates {
		refused = "nothing can be written"
	}
	remedy := "remove files, or delete pods that take disk space: the condition DiskPressure of the node names the largest"
	if !filesystem.IsFull(h.problem) {
		remedy = h.problem.Error()
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInsufficientStorage,
		Reason:  ReasonFull,
		Message: fmt.Sprintf("the disk of %s has no room, so %s: %s", filepath.Dir(h.dir), refused, remedy),
	}}
}

// step looks at the headroom if anything was written, or if the disk had too little room.
func (h *headroom) step() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.written > 0 || h.room != enough {
		h.look()
	}
}

// renew looks at the headroom, as etcd has made a new file of its database.
func (h *headroom) renew() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.look()
}

// isShort reports whether the disk had too little room at the last look.
func (h *headroom) isShort() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.room != enough
}

// look completes the headroom as far as the disk allows.
func (h *headroom) look() {
	if h.readOnly {
		return
	}
	before := h.room
	h.written = 0
	h.room, h.problem = h.complete()
	switch {
	case h.room == full && before > full:
		slog.Warn(h.exceeded(false).Error())
	case h.room < enough && before == enough:
		slog.Warn(h.exceeded(true).Error())
	case h.room == enough && before < enough:
		slog.Info("the disk has room again for what is created", "dir", filepath.Dir(h.dir))
	}
}
