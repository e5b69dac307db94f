package why

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/cli/absent"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podneeds"
	"github.com/stint-dev/stint/internal/visible"
)

// Text formats explanations.
type Text struct {
	// Caller formats commands.
	Caller target.Caller
	// Zone is the time zone in which times are shown.
	Zone *time.Location
	// Colour is set for terminals.
	Colour bool
	// Remote is set if the controllers may have another time zone.
	Remote bool
	// NoController is set if the server was started only to read the data, and runs no controllers.
	NoController bool
}

// waitsTold bounds the waits that are shown. The JSON has all.
const waitsTold = 6

// Job writes the explanation of a Job. tails are the last lines of the logs of its failures.
func (t Text) Job(w io.Writer, x *stintv1.JobExplanation, tails [][]string) error {
	p := screenText{Text: t, now: x.ObservedAt.Time}
	p.headline("Job "+x.Name, string(x.State), x.Since, p.colourOf(x.State))
	p.line("  %s", x.Summary)
	p.line("")
	p.waits(x)
	p.row("Progress", progress(x.Progress))
	p.failures(x.Failures, tails)
	for i, s := range x.Next {
		p.row(first(i, "Next"), s.What+p.when(s.At))
	}
	p.row("Manager", manager(x))
	_, err := io.WriteString(w, p.text.String())
	return err
}

// screenText is a screen being written.
type screenText struct {
	Text
	now  time.Time
	text strings.Builder
}

func (p *screenText) line(format string, args ...any) {
	p.text.WriteString(visible.Text(fmt.Sprintf(format, args...)) + "\n")
}

func (p *screenText) headline(name, state string, since *metav1.Time, colour string) {
	state = visible.Text(state)
	if p.Colour {
		state = colour + state + "\x1b[0m"
	}
	p.text.WriteString(visible.Text(name) + ": " + state)
	if since != nil {
		p.text.WriteString(" since " + p.clock(since.Time) + " (" + p.ago(since.Time) + ")")
	}
	p.line("")
}

// row writes a line with a label, which is empty if the line continues the row before.
func (p *screenText) row(label, text string) {
	p.line("%-11s %s", label, oneLine(text))
}

func first(i int, label string) string {
	if i == 0 {
		return label
	}
	return ""
}

func oneLine(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", " ")
}

func (p *screenText) waits(x *stintv1.JobExplanation) {
	list := x.Waits
	shown := list[:min(len(list), waitsTold)]
	for i, w := range shown {
		text := names[w.For] + ": " + abbreviated(w.Message, longestWait)
		if w.What != "" && named[w.For] {
			text = names[w.For] + " " + w.What + ": " + abbreviated(w.Message, longestWait)
		}
		text += p.remedy(x, w)
		if w.Since != nil {
			text += ", since " + p.clock(w.Since.Time) + " (" + p.ago(w.Since.Time) + ")"
		}
		if w.Until != nil {
			text += ", until " + p.clock(w.Until.Time) + " (" + p.ahead(w.Until.Time) + ")"
		}
		p.row(first(i, "Waits for"), text)
	}
	if more := list[len(shown):]; len(more) > 0 {
		p.row("", fmt.Sprintf("and %d more%s: see -o json", len(more), objectsAmong(more)))
	}
}

// objectsAmong names the missing objects among waits that are not shown.
func objectsAmong(waits []stintv1.JobWait) string {
	var objects []string
	for _, w := range waits {
		if w.For == stintv1.WaitForObject {
			objects = append(objects, w.What)
		}
	}
	if len(objects) == 0 {
		return ""
	}
	return ", also for " + strings.Join(objects, ", ")
}

// remedy returns the command that ends a wait, if there is one.
func (p *screenText) remedy(x *stintv1.JobExplanation, w stintv1.JobWait) string {
	switch {
	case w.For == stintv1.WaitForResume:
		return ": " + p.Caller.Command(x.Namespace, "resume", x.Name)
	case w.For == stintv1.WaitForConcurrency:
		return "; to start it anyway: " + p.Caller.Command(x.Namespace, "resume", x.Name)
	case w.For == stintv1.WaitForController && p.NoController:
		return "; start one: " + p.Caller.Command("", "server")
	case w.For == stintv1.WaitForObject:
		kind, name, _ := strings.Cut(w.What, "/")
		return ": " + absent.Remedy(podneeds.Need{Kind: podneeds.Kind(kind), Name: name, Keys: w.Keys}, x.Namespace, p.Caller, p.Remote)
	}
	return ""
}

// names are the labels of waits. named are the waits whose What is shown as well.
var (
	names = map[stintv1.JobWaitFor]string{
		stintv1.WaitForController:      "controller",
		stintv1.WaitForConcurrency:     "its turn",
		stintv1.WaitForJob:             "job",
		stintv1.WaitForResume:          "being resumed",
		stintv1.WaitForParallelism:     "parallelism",
		stintv1.WaitForDelay:           "delay",
		stintv1.WaitForPods:            "work",
		stintv1.WaitForTerminatingPods: "terminating pods",
		stintv1.WaitForCounting:        "counting",
		stintv1.WaitForCreation:        "pods to be accepted",
		stintv1.WaitForCapacity:        "capacity",
		stintv1.WaitForObject:          "object",
		stintv1.WaitForClaim:           "PersistentVolumeClaim",
		stintv1.WaitForContainers:      "containers",
		stintv1.WaitForFinalizer:       "finalizer",
		stintv1.WaitForDependents:      "dependents",
	}
	named = map[stintv1.JobWaitFor]bool{stintv1.WaitForFinalizer: true, stintv1.WaitForJob: true, stintv1.WaitForCapacity: true,
		stintv1.WaitForObject: true, stintv1.WaitForClaim: true, stintv1.WaitForContainers: true}
)

func progress(p stintv1.JobProgress) string {
	text := fmt.Sprintf("%d succeeded", p.Succeeded)
	if p.Completions != nil {
		text = fmt.Sprintf("%d of %d succeeded", p.Succeeded, *p.Completions)
	}
	text += fmt.Sprintf(", %d active of parallelism %d", p.Active, p.Parallelism)
	if p.Terminating > 0 {
		text += fmt.Sprintf(", %d terminating", p.Terminating)
	}
	text += fmt.Sprintf(", %d failed", p.Failed)
	if p.FailureLimit != nil {
		text += fmt.Sprintf(" (backoffLimit %d)", *p.FailureLimit)
	}
	if p.FailedIndexes > 0 || p.MaxFailedIndexes != nil {
		text += fmt.Sprintf(", %d failed %s", p.FailedIndexes, indexes(p.FailedIndexes))
	}
	if p.MaxFailedIndexes != nil {
		text += fmt.Sprintf(" (maxFailedIndexes %d)", *p.MaxFailedIndexes)
	}
	return text
}

func indexes(n int32) string {
	if n == 1 {
		return "index"
	}
	return "indexes"
}

func (p *screenText) failures(list []stintv1.PodResult, tails [][]string) {
	for i := range list {
		r := &list[i]
		p.row(first(i, "Failures"), "pod "+r.Pod+": "+p.how(r))
		if i >= len(tails) {
			continue
		}
		for _, l := range tails[i] {
			fmt.Fprintf(&p.text, "%-11s   | %s\n", "", output.OnScreen(l))
		}
	}
}

// how describes the end of a pod.
func (p *screenText) how(r *stintv1.PodResult) string {
	text := string(corev1.PodFailed)
	switch {
	case r.Signal > 0:
		text = fmt.Sprintf("signal %d", r.Signal)
	case r.ExitCode != nil:
		text = fmt.Sprintf("exit code %d", *r.ExitCode)
	}
	if r.Reason != "" && r.Reason != "Error" {
		text += " (" + r.Reason + ")"
	}
	if r.Index != nil {
		text = fmt.Sprintf("index %d, ", *r.Index) + text
	}
	if r.Node != "" {
		text += " on " + r.Node
	}
	if r.FinishedAt != nil {
		text += " at " + p.clock(r.FinishedAt.Time) + " (" + p.ago(r.FinishedAt.Time) + ")"
	}
	if r.Message != "" {
		text += ": " + abbreviated(r.Message, longestMessage)
	}
	return text
}

// These are how many characters are shown of the message of a failure, and of what is waited for: it ends in what fills a disk.
const (
	longestMessage = 240
	longestWait    = 600
)

func abbreviated(text string, longest int) string {
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}

func manager(x *stintv1.JobExplanation) string {
	switch {
	case !x.TimesAssumed:
		return x.Manager
	case x.Manager == core.ManagedBy:
		return x.Manager + "; delays shown are the defaults of stint controller"
	}
	return x.Manager + "; delays shown are the defaults of Kubernetes"
}

func (p *screenText) when(at *metav1.Time) string {
	if at == nil {
		return ""
	}
	return ", at " + p.clock(at.Time) + " (" + p.ahead(at.Time) + ")"
}

// clock formats a time, without the date if it is today.
func (p *screenText) clock(t time.Time) string {
	t, now := t.In(p.Zone), p.now.In(p.Zone)
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

func (p *screenText) ago(t time.Time) string {
	if d := p.now.Sub(t); d > 0 {
		return duration.HumanDuration(d) + " ago"
	}
	return "now"
}

func (p *screenText) ahead(t time.Time) string {
	if d := t.Sub(p.now); d > 0 {
		return "in " + duration.HumanDuration(d)
	}
	return "due"
}

const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
)

// colourOf is green for progress and success, red for failure, yellow for waiting.
func (*screenText) colourOf(s stintv1.JobState) string {
	colours := map[stintv1.JobState]string{
		stintv1.JobComplete: green, stintv1.JobCompleting: green, stintv1.JobRunning: green, stintv1.JobWindingDown: green,
		stintv1.JobStarting: green,
		stintv1.JobFailed:   red, stintv1.JobFailing: red, stintv1.JobCreationRefused: red, stintv1.JobUnknownMode: red,
	}
	return cmp.Or(colours[s], yellow)
}
