package results

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
)

// table shows a line for each index or pod or, if all is set, for each pod of each index.
type table struct {
	now     time.Time
	indexed bool
	all     bool
	// width is the maximum width of a line; 0 is no limit.
	width int
}

const gap = "   "

// print computes every line twice, first for the widths of the columns, and keeps none: a Job may have 100,000.
func (t *table) print(out io.Writer, items []stintv1.JobResult) error {
	head := t.head()
	widths := make([]int, len(head))
	for cells := range t.lines(items) {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	w := bufio.NewWriter(out)
	for cells := range t.lines(items) {
		var line strings.Builder
		for i, cell := range cells {
			if i > 0 {
				line.WriteString(gap)
			}
			line.WriteString(cell)
			if i < len(cells)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
			}
		}
		fmt.Fprintln(w, cut(strings.TrimRight(line.String(), " "), t.width))
	}
	return w.Flush()
}

func (t *table) head() []string {
	what := "POD"
	if t.indexed {
		what = "INDEX"
	}
	head := []string{what, "STATUS", "ATTEMPTS", "EXIT", "REASON", "NODE", "STARTED", "DURATION", "MESSAGE"}
	if t.all && t.indexed {
		head = slices.Insert(head, 1, "POD")
	}
	return head
}

// lines yields the header and a line for each result.
func (t *table) lines(items []stintv1.JobResult) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		if !yield(t.head()) {
			return
		}
		for i := range items {
			if !t.lineOf(&items[i], yield) {
				return
			}
		}
	}
}

func (t *table) lineOf(r *stintv1.JobResult, yield func([]string) bool) bool {
	if !t.all {
		return yield(t.cells(&r.PodResult, fmt.Sprint(r.Attempts)))
	}
	begun := int32(0)
	for _, p := range slices.Concat(r.Earlier, []stintv1.PodResult{r.PodResult}) {
		numbers := numbersOf(&p, begun)
		begun += results.AttemptsOf(&p)
		if !yield(t.cells(&p, numbers)) {
			return false
		}
	}
	return true
}

// numbersOf returns the numbers of a pod's attempts, after those of earlier pods: 2, or 2-4 if it was restarted.
func numbersOf(p *stintv1.PodResult, before int32) string {
	switch n := results.AttemptsOf(p); n {
	case 0:
		return "-"
	case 1:
		return fmt.Sprint(before + 1)
	default:
		return fmt.Sprintf("%d-%d", before+1, before+n)
	}
}

func (t *table) cells(p *stintv1.PodResult, attempts string) []string {
	cells := []string{p.Pod, string(p.Phase), attempts, exit(p), p.Reason, p.Node, t.started(p), elapsed(p, t.now), oneLine(p.Message)}
	for i := range cells[:8] {
		if cells[i] == "" {
			cells[i] = "-"
		}
	}
	if !t.indexed {
		return cells
	}
	pod := cells[0]
	if cells[0] = "-"; p.Index != nil {
		cells[0] = fmt.Sprint(*p.Index)
	}
	if t.all {
		cells = slices.Insert(cells, 1, pod)
	}
	return cells
}

// exit is the exit code, with the name of the signal: 137 (KILL).
func exit(p *stintv1.PodResult) string {
	if p.ExitCode == nil {
		return ""
	}
	if name := strings.TrimPrefix(unix.SignalName(unix.Signal(p.Signal)), "SIG"); name != "" {
		return fmt.Sprintf("%d (%s)", *p.ExitCode, name)
	}
	return fmt.Sprint(*p.ExitCode)
}

func (t *table) started(p *stintv1.PodResult) string {
	if p.StartedAt == nil {
		return ""
	}
	return duration.HumanDuration(t.now.Sub(p.StartedAt.Time)) + " ago"
}

// elapsed is how long a pod took, or has run so far.
func elapsed(p *stintv1.PodResult, now time.Time) string {
	d, ok := took(p, now)
	if !ok {
		return ""
	}
	return duration.HumanDuration(d)
}

func took(p *stintv1.PodResult, now time.Time) (time.Duration, bool) {
	switch {
	case p.StartedAt == nil:
		return 0, false
	case p.FinishedAt != nil:
		return p.FinishedAt.Sub(p.StartedAt.Time), true
	case p.Phase == corev1.PodRunning:
		return max(0, now.Sub(p.StartedAt.Time)).Truncate(time.Second), true
	}
	return 0, false
}

// oneLine makes any text safe for one line of a terminal.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return strings.Join(strings.Fields(text), " ")
}

func cut(line string, width int) string {
	if width == 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:width-1]) + "…"
}
