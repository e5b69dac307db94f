package logs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// cursor goes through the lines of a log, file by file, and can go on where it once came to the end.
type cursor struct {
	path    string
	file    *os.File
	buffer  *bufio.Reader
	pending []byte
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
			line := bytes.TrimSuffix(c.pending, []byte("\n"))
			c.pending = c.pending[len(c.pending):]
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			if err := c.advance(); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("read log: %w", err)
		}
	}
}

// advance opens the file after the current one; io.EOF if the current one is the newest.
func (c *cursor) advance() error {
	next, err := c.next()
	if err != nil {
		return err
	}
	f, err := os.Open(next)
	if errors.Is(err, fs.ErrNotExist) {
		return io.EOF
	}
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	c.close()
	c.file, c.buffer, c.pending = f, bufio.NewReaderSize(f, 32<<10), nil
	return nil
}

func (c *cursor) next() (string, error) {
	files, err := filepath.Glob(c.path + ".[0-9]*-[0-9]*")
	if err != nil {
		return "", fmt.Errorf("list log files: %w", err)
	}
	slices.Sort(files)
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
