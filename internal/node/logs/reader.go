package logs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"
)

// pollEvery is how often a follower looks for new lines.
const pollEvery = 100 * time.Millisecond

// Open reads the log at path. Ended is closed when the container writes no more; a follower reads on until then.
// Closing the reader or ending ctx stops it.
func Open(ctx context.Context, path string, ended <-chan struct{}, opts Options) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	pipe, w := io.Pipe()
	go func() {
		err := stream(ctx, path, ended, opts, w)
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		_ = w.CloseWithError(err)
	}()
	return &reader{PipeReader: pipe, cancel: cancel}
}

type reader struct {
	*io.PipeReader
	cancel context.CancelFunc
}

// Close stops the follower behind the reader.
func (r *reader) Close() error {
	r.cancel()
	return r.PipeReader.Close()
}

func stream(ctx context.Context, path string, ended <-chan struct{}, opts Options, w io.Writer) error {
	buffer := bufio.NewWriterSize(w, 32<<10)
	out := &printer{w: buffer, opts: opts, left: opts.Limit, midLine: map[string]bool{}}
	if opts.Tail >= 0 {
		lines, err := count(path, opts)
		if err != nil {
			return err
		}
		out.skip = max(0, lines-opts.Tail)
	}
	c := &cursor{path: path}
	defer c.close()
	for {
		// Checked before reading, so that the last round reads all that was written before the end.
		last := !opts.Follow || isClosed(ended)
		err := drain(ctx, c, out)
		full := errors.Is(err, errFull)
		if err != nil && !full {
			return err
		}
		if err := buffer.Flush(); err != nil || last || full {
			return err
		}
		if err := wait(ctx, ended); err != nil {
			return err
		}
	}
}

// drain prints the log up to its present end.
func drain(ctx context.Context, c *cursor, out *printer) error {
	for {
		line, err := c.line()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := parse(line)
		if err != nil {
			// A crash may have cut off this line, but the others are intact.
			continue
		}
		if err := out.print(r); err != nil {
			return err
		}
	}
}

// count returns how many whole lines of the log the options select.
func count(path string, opts Options) (int64, error) {
	c := &cursor{path: path}
	defer c.close()
	var lines int64
	for {
		line, err := c.line()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return 0, err
		}
		if r, err := parse(line); err == nil && r.whole && r.wanted(opts) {
			lines++
		}
	}
}

func wait(ctx context.Context, ended <-chan struct{}) error {
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-ended:
	case <-timer.C:
	}
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
