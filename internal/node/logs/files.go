package logs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/stint-dev/stint/internal/node/process/crilog"
)

// cursor reads the lines of a log, file by file. After it has come to the end it can read on when there is more.
type cursor struct {
	path    string
	file    *os.File
	buffer  *bufio.Reader
	pending []byte
	// offset is where the next line begins in the file.
	offset int64
	// rotated: nothing is written to the current file any more.
	rotated bool
}

// line returns the next whole line without its end, or io.EOF while there is none.
func (c *cursor) line() ([]byte, error) {
	for {
		if c.file == nil {
			if err := c.advance(); err != nil {
				return nil, err
			}
		}
		piece, err := c.buffer.ReadSlice('\n')
		c.pending = append(c.pending, piece...)
		switch {
		case err == nil:
			c.offset += int64(len(c.pending))
			line := bytes.TrimSuffix(c.pending, []byte("\n"))
			c.pending = c.pending[len(c.pending):]
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			if err := c.rewind(); err != nil {
				return nil, err
			}
			if err := c.finishFile(); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("read log: %w", err)
		}
	}
}

// rewind goes back to the beginning of a line that has no end yet. Where the disk is full, its writer removes such a line again.
func (c *cursor) rewind() error {
	if len(c.pending) == 0 {
		return nil
	}
	c.pending = c.pending[:0]
	if _, err := c.file.Seek(c.offset, io.SeekStart); err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	c.buffer.Reset(c.file)
	return nil
}

// finishFile goes on to the next file at the end of the current one, but first reads what was written to the current
// one before it was rotated. It returns io.EOF if the current file is the newest.
func (c *cursor) finishFile() error {
	if c.rotated {
		return c.advance()
	}
	_, err := c.next()
	c.rotated = err == nil
	return err
}

// advance opens the file after the current one; io.EOF if the current one is the newest.
func (c *cursor) advance() error {
	for {
		next, err := c.next()
		if err != nil {
			return err
		}
		f, failed := os.Open(next)
		// The file may have been rotated or removed before it was opened.
		if again, err := c.next(); err != nil || again != next {
			if failed == nil {
				_ = f.Close()
			}
			continue
		}
		if errors.Is(failed, fs.ErrNotExist) {
			return io.EOF
		}
		if failed != nil {
			return fmt.Errorf("open log: %w", failed)
		}
		c.close()
		c.file, c.buffer, c.pending, c.offset, c.rotated = f, bufio.NewReaderSize(f, 32<<10), nil, 0, false
		return nil
	}
}

func (c *cursor) next() (string, error) {
	files, err := crilog.Rotated(c.path)
	if err != nil {
		return "", fmt.Errorf("list log files: %w", err)
	}
	files = append(files, c.path)
	if c.file == nil {
		return files[0], nil
	}
	current, err := c.file.Stat()
	if err != nil {
		return "", fmt.Errorf("stat log: %w", err)
	}
	for i, name := range files {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, current) {
			if i+1 == len(files) {
				return "", io.EOF
			}
			return files[i+1], nil
		}
	}
	// The current file has been removed meanwhile: go on with the oldest that is left.
	return files[0], nil
}

func (c *cursor) close() {
	if c.file != nil {
		_ = c.file.Close()
		c.file = nil
	}
}
