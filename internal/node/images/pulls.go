package images

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/image/progress"
)

// maxPulls bounds how many pulls are told of at a time.
const maxPulls = 50

// Pulls tells how far the pulls are that began by a time, the first first, and whether any run.
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
			if _, listed := began[name]; !listed { // else by pods with other secrets
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
