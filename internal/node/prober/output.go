package prober

import (
	"bytes"
	"sync"
)

// maxOutput is how much of an answer, or of what a command prints, is kept.
const maxOutput = 10 << 10

// beginning keeps the first maxOutput bytes that are written to it.
type beginning struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

// Write never fails.
func (b *beginning) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.Write(data[:min(len(data), maxOutput-b.kept.Len())])
	return len(data), nil
}

func (b *beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.String()
}
