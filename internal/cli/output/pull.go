package output

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/visible"
)

// pullEvery is the shortest time between two lines about one pull without a terminal.
const pullEvery = 10 * time.Second

// pulls are the running pulls, sorted by image.
type pulls []Pull

// update records the progress of a pull, and removes it if it has ended.
func (ps *pulls) update(p Pull) {
	at, known := slices.BinarySearchFunc(*ps, p, func(a, b Pull) int { return strings.Compare(a.Image, b.Image) })
	switch {
	case known && p.Ended:
		*ps = slices.Delete(*ps, at, at+1)
	case known:
		(*ps)[at] = p
	case !p.Ended:
		*ps = slices.Insert(*ps, at, p)
	}
}

// lines returns a line per pull, at most room. If there are more pulls, the last line sums up the rest.
func (ps pulls) lines(room int) []string {
	shown, rest := ps, pulls(nil)
	if len(ps) > room {
		at := max(0, room-1)
		shown, rest = ps[:at], ps[at:]
	}
	var lines []string
	for _, p := range shown {
		lines = append(lines, pullLine(p))
	}
	if len(rest) > 0 && room > 0 {
		sum := progress.Pull{}
		for _, p := range rest {
			sum.Done, sum.Total = sum.Done+p.Done, sum.Total+p.Total
		}
		lines = append(lines, fmt.Sprintf("pulling %d images: %s", len(rest), sum))
	}
	return lines
}

func pullLine(p Pull) string { return "pulling image " + p.Image + ": " + p.String() }

// pullEnding returns the line about a finished pull; empty if it failed, as the waiting pods say so.
func pullEnding(p Pull) string {
	if !p.Arrived {
		return ""
	}
	return "pulled image " + p.Image + ": " + progress.Bytes(p.Total) + " in " + duration(p.Took)
}

// Pull implements Output.
func (l *Live) Pull(p Pull) {
	l.change(func() {
		l.screen.pulls.update(p)
		if text := pullEnding(p); p.Ended && text != "" {
			l.pending = append(l.pending, visible.Text(text))
		}
	})
}

// Pull implements Output.
func (p *Plain) Pull(pull Pull) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	last, told := p.pulls[pull.Image]
	switch {
	case pull.Ended:
		delete(p.pulls, pull.Image)
		if text := pullEnding(pull); text != "" {
			p.say("%s", text)
		}
	case !told || pull.At.Sub(last) >= pullEvery:
		p.pulls[pull.Image] = pull.At
		p.say("%s", pullLine(pull))
	}
}

type jsonPull struct {
	header
	progress.Pull
	Ended   bool    `json:"ended,omitempty"`
	Arrived bool    `json:"arrived,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Pull implements Output.
func (j *JSON) Pull(p Pull) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.emit(jsonPull{j.about("imagePull", Job{}), p.Pull, p.Ended, p.Arrived, p.Took.Seconds()})
}
