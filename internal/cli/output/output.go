// Package output is the output of `stint run`. There is one interface and four implementations:
//
//	live   on a terminal: a line per Job with a bar, log lines scrolling above
//	plain  without a terminal: log lines on stdout as the pods wrote them, everything else on stderr
//	json   for programs: one object per line on stdout
//	quiet  plain with log lines and failures only
//
// Callers may report every change; the implementation decides how often the reader sees it.
package output

import (
	"time"

	"github.com/stint-dev/stint/internal/image/progress"
)

// Job names a Job.
type Job struct {
	Namespace string
	Name      string
}

// How says how a Job became part of a run.
type How string

// The values of How.
const (
	Created  How = "created"
	Replaced How = "replaced" // a finished Job of that name was deleted first
	Followed How = "followed" // it was running already, from the same manifest
)

// Progress is the state of a Job that has not finished.
type Progress struct {
	Job
	// Order is the Job's place in the manifest.
	Order     int
	At        time.Time
	Active    int32
	Succeeded int32
	Failed    int32
	// Wanted is how many successes make the Job complete; 0 for a work queue.
	Wanted    int32
	Suspended bool
	// WaitsFor are Jobs that must finish first.
	WaitsFor []string
	// Rate is successes per second; Left is the time that the rest will take, 0 if unknown.
	Rate float64
	Left time.Duration
	// Retries is how many failures the Job may have; 0 if they are not counted for the Job as a whole.
	Retries int32
	// RetryAt is the end of the backoff delay, zero if the Job does not wait for one.
	RetryAt time.Time
	// Failure is how the newest failed pod failed, on one line.
	Failure string
}

// Line is a line that a container wrote.
type Line struct {
	Job
	Pod       string
	Container string
	// Prefix names the pod or container if there are several, else it is empty.
	Prefix string
	Text   []byte
	// Unterminated is set if the container wrote no newline after it.
	Unterminated bool
}

// PodFailure says how a pod failed.
type PodFailure struct {
	Job        Job
	Pod        string
	Reason     string
	Message    string
	Containers []ContainerFailure
	// LastLines are the last lines of the failed container's log; only in a Result.
	LastLines []string
}

// PodWait says what a pod waits for.
type PodWait struct {
	Job     Job
	Pod     string
	Reason  string
	Message string
}

// Pull is the progress of an image pull that pods of the run wait for.
type Pull struct {
	progress.Pull
	At time.Time
	// Took is how long the run has waited for it.
	Took time.Duration
	// Ended is set if no pod waits for it any more; Arrived as well if the image has been pulled.
	Ended, Arrived bool
}

// JobWait says which Jobs a Job waits for before it starts.
type JobWait struct {
	Job
	// For are the names, with the required outcome if it is not Complete: NAME or NAME=END.
	For []string
	// Missing are the names of Jobs that do not exist.
	Missing []string
}

// ContainerFailure says how a container of a failed pod ended.
type ContainerFailure struct {
	Name     string `json:"name"`
	ExitCode int32  `json:"exitCode"`
	Signal   int32  `json:"signal,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Outcome is how a Job ended.
type Outcome string

// The values of Outcome.
const (
	Complete Outcome = "Complete"
	Failed   Outcome = "Failed"
	Deleted  Outcome = "Deleted"
)

// Result is the end of a Job.
type Result struct {
	Job
	Outcome   Outcome
	Reason    string
	Message   string
	Succeeded int32
	Failures  int32
	Took      time.Duration
	// Unseen is set if the Job was deleted while it was not watched, so that its outcome is unknown.
	Unseen bool
	// Pods are failed pods, up to a number that a user can read; MorePods counts the others.
	Pods     []PodFailure
	MorePods int
	// Results is the command that shows all failed pods.
	Results string
	// Waiting are pods that had not run when the Job exceeded its deadline; MoreWaiting counts the others.
	Waiting     []PodWait
	MoreWaiting int
}

// Output shows a run to the user. Methods may be called from several goroutines.
type Output interface {
	// Note shows a message about the run as a whole, such as a warning.
	Note(text string)
	Start(job Job, how How)
	JobWaiting(w JobWait)
	Progress(p Progress)
	Log(l Line)
	PodFailed(f PodFailure)
	PodWaiting(w PodWait)
	Pull(p Pull)
	Finish(r Result)
	// Close writes the remaining output.
	Close() error
}
