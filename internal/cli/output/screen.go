package output

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/progress"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

const (
	barWidth  = 24
	nameWidth = 32
)

// screen is what a Live display shows: the Jobs that have not ended, in the order they started.
type screen struct {
	bar    progress.Model
	width  int
	height int
	order  []Job
	jobs   map[Job]Progress
	ended  int
}

func newScreen() screen {
	return screen{bar: progress.New(progress.WithWidth(barWidth), progress.WithoutPercentage()),
		width: 80, height: 24, jobs: map[Job]Progress{}}
}

// Init implements tea.Model.
func (s screen) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (s screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
	case Progress:
		if _, known := s.jobs[msg.Job]; !known {
			s.order = append(s.order, msg.Job)
		}
		s.jobs[msg.Job] = msg
	case Result:
		s.ended++
		s.drop(msg.Job)
	}
	return s, nil
}

func (s *screen) drop(job Job) {
	delete(s.jobs, job)
	for i, j := range s.order {
		if j == job {
			s.order = append(s.order[:i:i], s.order[i+1:]...)
			return
		}
	}
}

// View implements tea.Model.
func (s screen) View() tea.View {
	room := max(1, s.height-3)
	var lines []string
	for i, job := range s.order {
		if i == room {
			lines = append(lines, fmt.Sprintf("… and %d more jobs", len(s.order)-room))
			break
		}
		lines = append(lines, ansi.Truncate(s.line(s.jobs[job]), s.width, "…"))
	}
	if s.ended > 0 && len(s.order) > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d jobs ended", s.ended, s.ended+len(s.order)))
	}
	return tea.NewView(strings.Join(lines, "\n"))
}

func (s screen) line(p Progress) string {
	name := label(p.Job)
	if len(name) > nameWidth {
		name = name[:nameWidth-1] + "…"
	}
	line := name + " "
	if p.Wanted > 0 {
		line += s.bar.ViewAs(min(1, float64(p.Succeeded)/float64(p.Wanted))) + " "
	}
	line += counts(p)
	if pace := pace(p); pace != "" {
		line += ", " + pace
	}
	return line
}
