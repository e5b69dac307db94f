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

// Fetch gets a layer into file, which is open for reading and writing and may hold the beginning from an earlier try.
// On success the file holds the layer, verified, and is not yet synced. After an error that may pass it holds what has
// come, to go on with; one whose content is wrong is emptied. Told hears how many bytes the file has, and 0 before they are
// thrown away to fetch the layer anew.
func (c *Client) Fetch(ctx context.Context, image *Image, layer Layer, file *os.File, told func(done int64)) error {
	d := &download{client: c, image: image, layer: layer, file: file, told: told}
	err := d.run(ctx)
	if errors.Is(err, ErrMismatch) {
		return errors.Join(err, d.anew())
	}
	return err
}

// download is one layer on its way.
//
// Invariant: the file holds done bytes, its position is behind them, and sum has seen exactly them.
type download struct {
	client *Client
	image  *Image
	layer  Layer
	file   *os.File
	told   func(done int64)

	sum  hash.Hash
	done int64
	// furthest is the most that done has been.
	furthest int64
	// mirrored reports that a mirror has had a part in it; distrust, that only the registry itself is still asked.
	mirrored, untrusted bool
}

func (d *download) run(ctx context.Context) error {
	if err := d.takeUp(ctx); err != nil {
		return err
	}
	found := d.done
	var lie *Error
	for {
		err := d.rest(ctx)
		switch {
		case !errors.Is(err, ErrMismatch):
			return after(lie, err)
		case found > 0:
			found = 0 // the beginning that we found may be what is wrong
		case d.mirrored && !d.untrusted && d.image.from.registryServes():
			d.untrusted = errors.As(err, &lie)
		default:
			return err
		}
		if err := d.anew(); err != nil {
			return err
		}
	}
}

// after mentions what was wrong before.
func after(before *Error, err error) error {
	var e *Error
	if before == nil || !errors.As(err, &e) {
		return err
	}
	both := *e
	both.others = append([]*Error{before}, e.others...)
	return &both
}

// rest fetches what is missing and verifies the whole.
func (d *download) rest(ctx context.Context) error {
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
		return d.image.from.each(ctx, d.may, func(at *endpoint) error { return d.from(ctx, at) })
	}
	if err := d.client.persist(ctx, once, moved); err != nil {
		return err
	}
	if got := hex.EncodeToString(d.sum.Sum(nil)); d.layer.Digest.Algorithm != "sha256" || got != d.layer.Digest.Hex {
		return mismatch("the layer has the digest sha256:%s, not %s", got, d.layer.Digest)
	}
	return nil
}

func (d *download) may(h hosts.Host) bool { return mayPull(h) && !(d.untrusted && h.Mirror) }

// takeUp sums up what the file already holds.
func (d *download) takeUp(ctx context.Context) error {
	d.sum = sha256.New()
	info, err := d.file.Stat()
	if err != nil {
		return here(err)
	}
	if info.Size() > d.layer.Size {
		return d.anew()
	}
	if _, err := d.file.Seek(0, io.SeekStart); err != nil {
		return here(err)
	}
	d.done, err = io.Copy(d.sum, &interruptible{ctx: ctx, r: d.file})
	if err != nil {
		return here(err)
	}
	d.told(d.done)
	return nil
}

func (d *download) anew() error {
	d.sum, d.done = sha256.New(), 0
	d.told(0)
	if err := d.file.Truncate(0); err != nil {
		return here(err)
	}
	_, err := d.file.Seek(0, io.SeekStart)
	return here(err)
}

// from goes on with one host.
func (d *download) from(ctx context.Context, at *endpoint) error {
	ctx, guard := d.client.guard(ctx)
	defer guard.stop()
	// A packed layer must not be packed once more on the way, or its bytes could not be counted.
	header := http.Header{"Accept-Encoding": {"identity"}}
	if d.done > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-%d", d.done, d.layer.Size-1))
	}
	resp, err := at.get(ctx, "blobs/"+d.layer.Digest.String(), header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	d.mirrored = d.mirrored || at.host.Mirror
	if err = d.fits(resp); err == nil {
		err = d.copy(ctx, guard.watch(resp.Body), resp.ContentLength)
	}
	if errors.Is(err, ErrMismatch) {
		// The next host is not to go on from there.
		return errors.Join(err, d.anew())
	}
	return err
}

// fits looks at where the answer begins, and begins anew where a server sends all.
func (d *download) fits(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusPartialContent:
		var start int64
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-", &start); err != nil || start != d.done {
			return &Error{Kind: ErrBadAnswer, Detail: fmt.Sprintf("asked to go on at byte %d, the answer begins elsewhere", d.done)}
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if err := d.anew(); err != nil {
			return err
		}
		return &Error{Kind: ErrBadAnswer, Temporary: true, Detail: "the registry cannot go on within the layer"}
	default:
		if d.done > 0 {
			if err := d.anew(); err != nil {
				return err
			}
		}
	}
	if left := d.layer.Size - d.done; resp.ContentLength > left {
		return mismatch("the layer is larger than the %d bytes that the manifest says", d.layer.Size)
	}
	return nil
}

// copy appends what comes, and stops one byte after the end that the manifest promised. length is what the answer says
// it has, or -1.
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
	d.told(d.done)
	return here(err)
}

// here is an error of the file, which no other try and no other host mends.
func here(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errHere, err)
}

// interruptible lets the summing of a large file be stopped.
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
