package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"

	"github.com/stint-dev/stint/internal/image/registry/hosts"
)

// Fetch downloads a layer into file, which is open for reading and writing and may have the beginning of the layer from an
// earlier try. On success the file has the layer, verified, but not synced to disk. After most errors it keeps what was
// downloaded, for the next try; after ErrMismatch it is empty. Fetch calls report with the number of bytes in the file, and
// with 0 before it discards them to download the layer again.
func (c *Client) Fetch(ctx context.Context, image *Image, layer Layer, file *os.File, report func(done int64)) error {
	d := &download{client: c, image: image, layer: layer, file: file, report: report}
	err := withoutSecrets(d.run(ctx), image.from.secrets)
	if errors.Is(err, ErrMismatch) {
		return errors.Join(err, d.restart())
	}
	return err
}

// download is the download of one layer.
//
// Invariant: the file has done bytes, its position is after them, and sum has hashed exactly these.
type download struct {
	client *Client
	image  *Image
	layer  Layer
	file   *os.File
	report func(done int64)

	sum  hash.Hash
	done int64
	// furthest is the largest value that done has had.
	furthest int64
	// mirrored reports whether a mirror has sent a part of the file; untrusted, whether mirrors are not asked any more.
	mirrored, untrusted bool
}

func (d *download) run(ctx context.Context) error {
	if err := d.hashExisting(ctx); err != nil {
		return err
	}
	found := d.done
	var mirrorErr *Error
	for {
		err := d.finish(ctx)
		switch {
		case !errors.Is(err, ErrMismatch):
			return after(mirrorErr, err)
		case found > 0:
			found = 0 // The beginning from an earlier try may be what is wrong.
		case d.mirrored && !d.untrusted && d.image.from.registryServes():
			d.untrusted = errors.As(err, &mirrorErr)
		default:
			return err
		}
		if err := d.restart(); err != nil {
			return err
		}
	}
}

// after returns err with the error of a mirror that was tried before.
func after(before *Error, err error) error {
	var e *Error
	if before == nil || !errors.As(err, &e) {
		return err
	}
	both := *e
	both.others = append([]*Error{before}, e.others...)
	return &both
}

// finish downloads what is missing and verifies the whole layer.
func (d *download) finish(ctx context.Context) error {
	d.furthest = d.done
	moved := func() bool {
		further := d.done > d.furthest
		d.furthest = max(d.furthest, d.done)
		return further
	}
	once := func() error {
		if d.done == d.layer.Size {
			return nil
		}
		return d.image.from.each(ctx, d.mayUse, func(at *endpoint) error { return d.continueFrom(ctx, at) })
	}
	if err := d.client.persist(ctx, once, moved); err != nil {
		return err
	}
	if got := hex.EncodeToString(d.sum.Sum(nil)); d.layer.Digest.Algorithm != "sha256" || got != d.layer.Digest.Hex {
		return mismatch("the layer has the digest sha256:%s, not %s", got, d.layer.Digest)
	}
	return nil
}

func (d *download) mayUse(h hosts.Host) bool { return mayPull(h) && !(d.untrusted && h.Mirror) }

// hashExisting hashes what the file already has.
func (d *download) hashExisting(ctx context.Context) error {
	d.sum = sha256.New()
	info, err := d.file.Stat()
	if err != nil {
		return localError(err)
	}
	if info.Size() > d.layer.Size {
		return d.restart()
	}
	if _, err := d.file.Seek(0, io.SeekStart); err != nil {
		return localError(err)
	}
	d.done, err = io.Copy(d.sum, &interruptible{ctx: ctx, r: d.file})
	if err != nil {
		return localError(err)
	}
	d.report(d.done)
	return nil
}

func (d *download) restart() error {
	d.sum, d.done = sha256.New(), 0
	d.report(0)
	if err := d.file.Truncate(0); err != nil {
		return localError(err)
	}
	_, err := d.file.Seek(0, io.SeekStart)
	return localError(err)
}

// continueFrom continues the download at one host.
func (d *download) continueFrom(ctx context.Context, at *endpoint) error {
	ctx, guard := d.client.guard(ctx, "the beginning of the layer")
	defer guard.stop()
	// The response must not be compressed once more, so that the bytes received are those of the layer.
	header := http.Header{"Accept-Encoding": {"identity"}}
	if d.done > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", d.done, d.layer.Size-1))
	}
	resp, err := at.get(ctx, "blobs/"+d.layer.Digest.String(), header)
	if err != nil {
		return err
	}
	defer guard.close(resp.Body)
	d.mirrored = d.mirrored || at.host.Mirror
	if err = d.checkRange(resp); err == nil {
		err = d.copy(ctx, guard.watch(resp.Body), resp.ContentLength)
	}
	if errors.Is(err, ErrMismatch) {
		// The next host must not continue after wrong bytes.
		return errors.Join(err, d.restart())
	}
	return err
}

// checkRange checks that the response begins where the file ends. If the server sends the whole layer, it empties the file.
func (d *download) checkRange(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusPartialContent:
		var start int64
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-", &start); err != nil || start != d.done {
			return &Error{Kind: ErrBadAnswer, Detail: fmt.Sprintf("asked to go on at byte %d, the answer begins elsewhere", d.done)}
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if err := d.restart(); err != nil {
			return err
		}
		return &Error{Kind: ErrBadAnswer, Temporary: true, Detail: "the registry cannot go on within the layer"}
	default:
		if d.done > 0 {
			if err := d.restart(); err != nil {
				return err
			}
		}
	}
	if left := d.layer.Size - d.done; resp.ContentLength > left {
		return mismatch("the layer is larger than the %d bytes that the manifest says", d.layer.Size)
	}
	return nil
}

// copy appends the body to the file. It reads at most one byte more than the size in the manifest. length is the length of the
// body by its header, or -1.
func (d *download) copy(ctx context.Context, body io.Reader, length int64) error {
	began := d.done
	buf := make([]byte, 64<<10)
	in := io.LimitReader(body, d.layer.Size-d.done+1)
	for {
		n, err := in.Read(buf)
		if d.done+int64(n) > d.layer.Size {
			return mismatch("the layer is larger than the %d bytes that the manifest says", d.layer.Size)
		}
		if writeErr := d.append(buf[:n]); writeErr != nil {
			return writeErr
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return failed(ctx, err)
		}
	}
	switch {
	case d.done == d.layer.Size:
		return nil
	case length >= 0 && d.done-began == length:
		return mismatch("the layer is smaller than the %d bytes that the manifest says", d.layer.Size)
	}
	return failed(ctx, io.ErrUnexpectedEOF)
}

func (d *download) append(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	n, err := d.file.Write(p)
	d.sum.Write(p[:n])
	d.done += int64(n)
	d.report(d.done)
	return localError(err)
}

// localError marks an error of the file: neither another try nor another host would help.
func localError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errLocal, err)
}

// interruptible ends with its context, so that hashing a large file can be stopped.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.r.Read(p)
}
