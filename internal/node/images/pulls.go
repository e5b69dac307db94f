package images

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/image/progress"
)

// maxListed bounds how many pulls are listed at a time.
const maxListed = 50

// Pulls returns the progress of the running pulls that had begun by a time, the oldest first, and whether any pull
// runs.
func (m *Manager) Pulls(by time.Time) (pulls []progress.Pull, running bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	began := map[string]time.Time{}
	for _, r := range m.turns.running {
		current := r.progress.Load()
		if current == nil || r.began.After(by) {
			continue
		}
		for name := range r.names {
			if _, listed := began[name]; !listed { // Pods with other secrets may pull the same image.
				began[name] = r.began
				pulls = append(pulls, progress.Pull{Image: name, Done: current.Done, Total: current.Total})
			}
		}
	}
	slices.SortFunc(pulls, func(a, b progress.Pull) int {
		return cmp.Or(began[a.Image].Compare(began[b.Image]), strings.Compare(a.Image, b.Image))
	})
	return pulls[:min(len(pulls), maxListed)], len(m.turns.running) > 0
}
