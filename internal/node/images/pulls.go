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
func (m *Manager) Pulls(by time.Time) (pulls []progress.Pull, some bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	began := map[string]time.Time{}
	for _, p := range m.pulls {
		some = some || p.running
		sofar := p.progress.Load()
		if !p.running || sofar == nil || p.began.After(by) {
			continue
		}
		for name := range p.names {
			if _, told := began[name]; !told { // else by pods with other secrets
				began[name] = p.began
				pulls = append(pulls, progress.Pull{Image: name, Done: sofar.Done, Total: sofar.Total})
			}
		}
	}
	slices.SortFunc(pulls, func(a, b progress.Pull) int {
		return cmp.Or(began[a.Image].Compare(began[b.Image]), strings.Compare(a.Image, b.Image))
	})
	return pulls[:min(len(pulls), maxPulls)], some
}
