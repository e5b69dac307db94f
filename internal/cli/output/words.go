package output

import (
	"fmt"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/visible"
)

// label is the name of a Job in messages, with its namespace unless that is default.
func label(j Job) string {
	if j.Namespace == "" || j.Namespace == "default" {
		return j.Name
	}
	return j.Namespace + "/" + j.Name
}

// counts is the first part of a status line: "3 of 10 succeeded, 2 active, 1 failed".
func counts(p Progress) string {
	var parts []string
	if len(p.WaitsFor) > 0 {
		return "waits for " + strings.Join(p.WaitsFor, ", ")
	}
	if p.Wanted > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d succeeded", p.Succeeded, p.Wanted))
	} else {
		parts = append(parts, fmt.Sprintf("%d succeeded", p.Succeeded))
	}
	parts = append(parts, fmt.Sprintf("%d active", p.Active))
	if p.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", p.Failed))
	}
	if p.Failed > 0 && p.Failed <= p.Retries {
		parts = append(parts, fmt.Sprintf("%d of %d retries", p.Failed, p.Retries))
	}
	if p.Suspended {
		parts = append(parts, "suspended")
	}
	return strings.Join(parts, ", ")
}

// retry is "next try in 12s" while the Job waits for its backoff delay.
func retry(p Progress) string {
	left := p.RetryAt.Sub(p.At)
	if left <= 0 {
		return ""
	}
	return "next try in " + wholeSeconds(left)
}

// pace is "12.5/s, 4s left", or empty if the rate is unknown.
func pace(p Progress) string {
	if p.Rate <= 0 {
		return ""
	}
	text := fmt.Sprintf("%.3g/s", p.Rate)
	if p.Rate >= 100 {
		text = fmt.Sprintf("%.0f/s", p.Rate)
	}
	if p.Left > 0 {
		text += ", " + duration(p.Left) + " left"
	}
	return text
}

// duration formats a duration: 0.4s, 12s, 3m20s, 2h05m.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// wholeSeconds formats a duration without fractions of a second.
func wholeSeconds(d time.Duration) string {
	return strings.Replace(duration(d.Round(time.Second)), ".0s", "s", 1)
}

// ending is the headline of a finished Job.
func ending(r Result) string {
	text := "job " + label(r.Job)
	switch r.Outcome {
	case Complete:
		text += " completed"
	case Deleted:
		if r.Unseen {
			return text + " was deleted while the server did not answer: it is not known whether it had finished"
		}
		return text + " was deleted before it finished"
	default:
		text += " failed"
	}
	if r.Took > 0 {
		text += " after " + wholeSeconds(r.Took) // The API has no fractions.
	}
	if r.Outcome == Complete {
		return text
	}
	return text + because(r.Reason, r.Message)
}

func because(reason, message string) string {
	switch {
	case reason == "":
		if message == "" {
			return ""
		}
		return ": " + message
	case message == "":
		return ": " + reason
	}
	return ": " + reason + ": " + message
}

// conclusion returns the headline of a finished Job and indented lines that say why it failed, safe for a terminal.
func conclusion(r Result) []string {
	lines := []string{visible.Text(ending(r))}
	if r.Outcome == Complete {
		return lines
	}
	add := func(text string) { lines = append(lines, "  "+visible.Text(text)) }
	for _, f := range r.Pods {
		add(podSentence(f))
		for _, l := range f.LastLines {
			lines = append(lines, "    | "+OnScreen(l))
		}
	}
	if r.MorePods > 0 {
		add(furtherPods(r))
	}
	for _, w := range r.Waiting {
		add("pod " + w.Pod + " never ran" + waitReason(w))
	}
	if r.MoreWaiting > 0 {
		add(fmt.Sprintf("and %d more that never ran", r.MoreWaiting))
	}
	return lines
}

// orderSentence says which Jobs a Job waits for.
func orderSentence(w JobWait) string {
	text := "job " + label(w.Job) + ": waits for " + strings.Join(w.For, ", ")
	switch missing := strings.Join(w.Missing, ", "); {
	case len(w.Missing) == 0:
		return text
	case len(w.For) == 1:
		return text + ", which does not exist yet"
	case len(w.Missing) == 1:
		return text + "; " + missing + " does not exist yet"
	default:
		return text + "; " + missing + " do not exist yet"
	}
}

// waitSentence says what a pod waits for, on one line.
func waitSentence(w PodWait) string {
	return "job " + label(w.Job) + ": pod " + w.Pod + " waits" + waitReason(w)
}

func waitReason(w PodWait) string {
	return because(w.Reason, strings.ReplaceAll(strings.TrimSpace(w.Message), "\n", " "))
}

// furtherPods counts the failed pods that are not listed, and names the command that shows their results.
func furtherPods(r Result) string {
	lead, noun := "", "failed pods"
	if len(r.Pods) > 0 {
		lead, noun = "and ", "more failed pods"
	}
	if r.MorePods == 1 {
		noun = strings.TrimSuffix(noun, "s")
	}
	return fmt.Sprintf("%s%d %s: see %s", lead, r.MorePods, noun, r.Results)
}

func podSentence(f PodFailure) string {
	return "pod " + f.Pod + " failed" + colon(f.Phrase())
}

// Phrase is how the pod failed, on one line.
func (f PodFailure) Phrase() string {
	var parts []string
	for _, c := range f.Containers {
		parts = append(parts, containerPhrase(c, len(f.Containers) > 1))
	}
	return strings.TrimPrefix(strings.Join(parts, ", ")+because(f.Reason, f.Message), ": ")
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func containerPhrase(c ContainerFailure, named bool) string {
	text := fmt.Sprintf("exit code %d", c.ExitCode)
	if c.Signal > 0 {
		text = fmt.Sprintf("signal %d", c.Signal)
	}
	if named {
		text = "container " + c.Name + ": " + text
	}
	if c.Reason != "" && c.Reason != "Error" {
		text += " (" + c.Reason + ")"
	}
	if c.Message != "" {
		text += ": " + strings.ReplaceAll(strings.TrimSpace(c.Message), "\n", " ")
	}
	return text
}
