package store

import "io"

// How far a stage of unpacking may be ahead of the next one.
const (
	chunkSize   = 256 << 10
	chunksAhead = 4
)

// readAheadReader reads ahead from another reader, so that producing and using the bytes go on at the same time.
type readAheadReader struct {
	full  chan chunk
	spare chan []byte
	// now is what is left of the chunk that is being read, held its buffer.
	now  chunk
	held []byte
}

type chunk struct {
	bytes []byte
	err   error
}

// readAhead reads r to its end. Its goroutine may never end, so it is only for children, which end with their task.
func readAhead(r io.Reader) *readAheadReader {
	a := &readAheadReader{full: make(chan chunk, chunksAhead), spare: make(chan []byte, chunksAhead)}
	for range chunksAhead {
		a.spare <- make([]byte, chunkSize)
	}
	go a.fill(r)
	return a
}

func (a *readAheadReader) fill(r io.Reader) {
	for {
		buffer := <-a.spare
		n, err := 0, error(nil)
		for n < len(buffer) && err == nil {
			var more int
			more, err = r.Read(buffer[n:])
			n += more
		}
		a.full <- chunk{buffer[:n], err} // Never blocks: the channel has room for all buffers.
		if err != nil {
			return
		}
	}
}

// Read implements io.Reader.
func (a *readAheadReader) Read(p []byte) (int, error) {
	for len(a.now.bytes) == 0 {
		if a.now.err != nil {
			return 0, a.now.err
		}
		if a.held != nil {
			a.spare <- a.held
		}
		a.now = <-a.full
		a.held = a.now.bytes[:cap(a.now.bytes)]
	}
	n := copy(p, a.now.bytes)
	a.now.bytes = a.now.bytes[n:]
	return n, nil
}
