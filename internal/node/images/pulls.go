package images

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/image/progress"
)

// maxPulls bounds how many pulls are listed at a time.
const maxPulls = 50

// Pulls returns the progress of the running pulls that had begun by a time, the oldest first, and whether any pull
// runs.
func (m *Manager) Pulls(by time.Time) (pulls []progress.Pull, running bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	began := map[string]time.Time{}
	for _, p := range m.pulls {
		running = running || p.running
		current := p.progress.Load()
		if !p.running || current == nil || p.began.After(by) {
			continue
		}
		for name := range p.names {
			if _, listed := began[name]; !listed { // Pods with other secrets may pull the same image.
				began[name] = p.began
				pulls = append(pulls, progress.Pull{Image: name, Done: current.Done, Total: current.Total})
			}
		}
	}
	slices.SortFunc(pulls, func(a, b progress.Pull) int {
		return cmp.Or(began[a.Image].Compare(began[b.Image]), strings.Compare(a.Image, b.Image))
	})
	return pulls[:min(len(pulls), maxPulls)], running
}
