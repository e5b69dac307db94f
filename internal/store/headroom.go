package store

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"

	"go.etcd.io/etcd/client/v3/kubernetes"
	"golang.org/x/sync/semaphore"
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
	// shareBytes is what a write takes of burstBytes beside the value: so at most 1,024 are written at the same time.
	shareBytes = 4 << 10
	// plentyBytes is more free space than others take within moments.
	plentyBytes = 64 << 20
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
	// database is that of the running etcd.
	database database
	spares   spares
	// writing is taken by writes, a unit for each byte.
	writing *semaphore.Weighted

	mu sync.Mutex
	// written is how many bytes were written since the last look.
	written int64
	room    room

	warnOnce sync.Once
}

// database has the sizes of etcd's database, in bytes: Size is up to its last page, and SizeInUse without free pages.
type database interface {
	Size() int64
	SizeInUse() int64
}

// room is how much room the disk has, as of the last look.
type room int

const (
	// blocked means that etcd may soon find no space: nothing is written.
	blocked room = iota
	// scarce means that no spare segment is left: what exists is updated and deleted.
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
func (h *headroom) start(next kubernetes.Interface, d database) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Interface, h.database = next, d
	h.look()
}

// OptimisticPut implements kubernetes.Interface.
func (h *headroom) OptimisticPut(ctx context.Context, key string, value []byte, expected int64, o kubernetes.PutOptions) (kubernetes.PutResponse, error) {
	creates := expected == 0
	bytes, err := h.begin(ctx, len(value), roomFor(creates, o.LeaseID != 0))
	if isRefusal(err) {
		return refuse(ctx, h.Interface, key, creates, err)
	}
	if err != nil {
		return kubernetes.PutResponse{}, err
	}
	defer h.writing.Release(bytes)
	return h.Interface.OptimisticPut(context.WithoutCancel(ctx), key, value, expected, o)
}

// OptimisticDelete implements kubernetes.Interface.
func (h *headroom) OptimisticDelete(ctx context.Context, key string, expected int64, o kubernetes.DeleteOptions) (kubernetes.DeleteResponse, error) {
	bytes, err := h.begin(ctx, 0, scarce)
	if err != nil {
		return kubernetes.DeleteResponse{}, err
	}
	defer h.writing.Release(bytes)
	return h.Interface.OptimisticDelete(context.WithoutCancel(ctx), key, expected, o)
}

// begin waits until less than burstBytes are being written, and looks at the headroom if it is time to. The caller releases bytes when
// etcd has answered: a write whose client does not wait any more is written all the same. The error may be that there is too little room.
func (h *headroom) begin(ctx context.Context, value int, needed room) (bytes int64, err error) {
	bytes = min(int64(value)+shareBytes, burstBytes)
	if err := h.writing.Acquire(ctx, bytes); err != nil {
		return 0, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.written += int64(value) + entryBytes; h.written > lookBytes {
		h.look()
	}
	if h.room < needed {
		h.writing.Release(bytes)
		return 0, h.exceeded(needed)
	}
	return bytes, nil
}

// isRoomy reports whether so many bytes of the disk are free, and some inodes.
func isRoomy(dir string, bytes int64) bool {
	const inodes = 16
	space, err := filesystem.SpaceOf(dir)
	return err != nil || (space.Bytes == 0 || space.BytesAvailable >= bytes) && (space.Inodes == 0 || space.InodesFree >= inodes)
}

// roomFor returns the room that is needed to write an object.
func roomFor(creates, expires bool) room {
	switch {
	case !creates:
		return scarce
	case expires:
		return tight
	default:
		return enough
	}
}

func (h *headroom) exceeded(needed room) error {
	refused := "no objects can be created"
	if needed == scarce {
		refused = "nothing can be written"
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure,
		Code:   http.StatusInsufficientStorage,
		Reason: ReasonFull,
		Message: fmt.Sprintf("the disk of %s has no room, so %s: remove files, or delete pods that take disk space: the condition DiskPressure of the node names the largest",
			filepath.Dir(h.dir), refused),
	}}
}

func isRefusal(err error) bool { return apierrors.ReasonForError(err) == ReasonFull }

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

// look completes the headroom as far as the disk allows. Where space cannot be allocated for other reasons, writes are left to etcd.
func (h *headroom) look() {
	if h.readOnly {
		return
	}
	before, err := h.room, error(nil)
	h.written = 0
	h.room, err = h.complete()
	if err != nil && !filesystem.IsFull(err) {
		h.room = enough
		h.warnOnce.Do(func() { slog.Warn("the store cannot keep disk space in reserve", "error", err) })
	}
	switch {
	case h.room == blocked && before > blocked:
		slog.Warn(h.exceeded(scarce).Error())
	case h.room < enough && before == enough:
		slog.Warn(h.exceeded(enough).Error())
	case h.room == enough && before < enough:
		slog.Info("objects can be created again", "dir", filepath.Dir(h.dir))
	}
}
