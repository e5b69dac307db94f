package wire

import (
	"bufio"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Conn sends and receives values over a socket.
type Conn struct {
	socket *net.UnixConn
	dec    *gob.Decoder
	out    *bufio.Writer
	enc    *gob.Encoder
}

// NewConn wraps a connected socket.
func NewConn(socket *net.UnixConn) *Conn {
	out := bufio.NewWriterSize(socket, 64<<10)
	return &Conn{
		socket: socket,
		dec:    gob.NewDecoder(bufio.NewReaderSize(socket, 64<<10)),
		out:    out,
		enc:    gob.NewEncoder(out),
	}
}

// Receive waits for the next value.
func (c *Conn) Receive(v any) error { return c.dec.Decode(v) }

// Send writes v at once. It is not safe for concurrent use: use a Queue for that.
func (c *Conn) Send(v any) error {
	if err := c.enc.Encode(v); err != nil {
		return err
	}
	return c.out.Flush()
}

// Encode adds v to the buffer without sending it.
func (c *Conn) Encode(v any) error { return c.enc.Encode(v) }

// Flush sends the buffer.
func (c *Conn) Flush() error { return c.out.Flush() }

// maxFiles is how many descriptors are sent at most.
const maxFiles = 3

// SendFiles sends descriptors, which may be none.
func (c *Conn) SendFiles(fds []int) error {
	_, _, err := c.socket.WriteMsgUnix([]byte{0}, unix.UnixRights(fds...), nil)
	return err
}

// ReceiveFiles receives descriptors, which it makes non-blocking. Nothing else may have been received before.
func (c *Conn) ReceiveFiles() ([]*os.File, error) {
	var first [1]byte
	rights := make([]byte, unix.CmsgSpace(4*maxFiles))
	_, n, _, _, err := c.socket.ReadMsgUnix(first[:], rights)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return nil, err
		}
		for _, fd := range fds {
			if err := unix.SetNonblock(fd, true); err != nil {
				return nil, err
			}
			files = append(files, os.NewFile(uintptr(fd), "stream"))
		}
	}
	if first[0] != 0 {
		return nil, errors.New("the host process sends no descriptors: it is of another version")
	}
	return files, nil
}

// Close ends the connection.
func (c *Conn) Close() error { return c.socket.Close() }

// Peer returns the process at the other end.
func (c *Conn) Peer() (*unix.Ucred, error) {
	raw, err := c.socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	return cred, cmp.Or(err, failed)
}

// HungUp reports whether the other end is closed. It asks the kernel, which knows it before Receive returns an error.
func (c *Conn) HungUp() bool {
	raw, err := c.socket.SyscallConn()
	if err != nil {
		return true
	}
	hungUp := true
	err = raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(poll, 0)
		hungUp = err == nil && n > 0
	})
	return hungUp || err != nil
}

// CheckPeer returns an error if the process at the other end belongs to another user.
func (c *Conn) CheckPeer() error {
	cred, err := c.Peer()
	if err != nil {
		return err
	}
	if cred.Uid != uint32(os.Geteuid()) {
		return fmt.Errorf("the other end of the socket belongs to user %d, not %d", cred.Uid, os.Geteuid())
	}
	return nil
}

// Queue sends values of type T in order. Put never blocks: a goroutine sends all queued values with one system call.
type Queue[T any] struct {
	conn *Conn
	pack func(c *Conn, values []T) error

	mu     sync.Mutex
	filled *sync.Cond
	values []T
	closed bool
}

// NewQueue starts a queue that sends its values through pack.
func NewQueue[T any](conn *Conn, pack func(c *Conn, values []T) error) *Queue[T] {
	q := &Queue[T]{conn: conn, pack: pack}
	q.filled = sync.NewCond(&q.mu)
	go q.run()
	return q
}

// Put queues v.
func (q *Queue[T]) Put(v T) {
	q.mu.Lock()
	q.values = append(q.values, v)
	q.mu.Unlock()
	q.filled.Signal()
}

// Close drops what is queued and ends the goroutine.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.filled.Signal()
}

func (q *Queue[T]) run() {
	for {
		values, ok := q.take()
		if !ok {
			return
		}
		if err := q.pack(q.conn, values); err != nil {
			// The goroutine that reads from the socket sees that it is closed, and ends the connection.
			q.conn.Close()
			return
		}
	}
}

func (q *Queue[T]) take() ([]T, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.values) == 0 && !q.closed {
		q.filled.Wait()
	}
	values := q.values
	q.values = nil
	return values, !q.closed
}
