// Package output is how `stint run` speaks. There is one interface and four ways to say it:
//
//	live   on a terminal: a line per Job with a bar, log lines scrolling above
//	plain  without one: log lines on stdout as the pods wrote them, everything else on stderr
//	json   for programs: one object a line on stdout
//	quiet  plain without anything but log lines and the reason of failures
//
// The engine calls as often as it likes; how much of it a reader sees is decided here.
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

// How a Job came to be part of a run.
type How string

// The ways into a run.
const (
	Created  How = "created"
	Replaced How = "replaced" // a finished Job of that name was deleted first
	Followed How = "followed" // it was running already, from the same manifest
)

// Progress is where a Job stands.
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
	// WaitsFor are Jobs that must end first.
	WaitsFor []string
	// Rate is successes a second; Left is the time that the rest will take, 0 where that cannot be told.
	Rate float64
	Left time.Duration
	// Retries is how many failures the Job may have; 0 where they are not counted for the Job as a whole.
	Retries int32
	// RetryAt is when the next pod comes, zero where none waits for the delay after a failure.
	RetryAt time.Time
	// Failure is how the newest failed pod failed, on one line.
	Failure string
}

// Line is a line that a container wrote.
type Line struct {
	Job
	Pod       string
	Container string
	// Prefix names the source where there is more than one, else it is empty.
	Prefix string
	Text   []byte
	// Unterminated: the container wrote no newline after it.
	Unterminated bool
}

// PodFailure tells how a pod failed.
type PodFailure struct {
	Job        Job
	Pod        string
	Reason     string
	Message    string
	Containers []ContainerFailure
	// LastLines ends the log of the container that failed; only in a Result.
	LastLines []string
}

// PodWait tells what a pod waits for.
type PodWait struct {
	Job     Job
	Pod     string
	Reason  string
	Message string
}

// Pull is how far the pull of an image is that pods of the run wait for.
type Pull struct {
	progress.Pull
	At time.Time
	// Took is for how long the run has waited for it.
	Took time.Duration
	// Ended: no pod waits for it any more. Arrived: and that is because the image is there.
	Ended, Arrived bool
}

// JobWait tells which Jobs one waits for before it starts.
type JobWait struct {
	Job
	// For are the names, and how these Jobs must end where that is not to complete: NAME or NAME=END.
	For []string
	// Missing are the names of those that do not exist.
	Missing []string
}

// ContainerFailure tells how a container of a failed pod ended.
type ContainerFailure struct {
	Name     string `json:"name"`
	ExitCode int32  `json:"exitCode"`
	Signal   int32  `json:"signal,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Outcome is how a Job ended.
type Outcome string

// The ends of a Job.
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
	// Unseen: nobody watched when the Job was deleted.
	Unseen bool
	// Pods are failed pods, at most as many as one wants to read; MorePods counts the others.
	Pods     []PodFailure
	MorePods int
	// Results is the command that shows all of them.
	Results string
	// Waiting are pods that never ran before the Job's time was up; MoreWaiting counts the others.
	Waiting     []PodWait
	MoreWaiting int
}

// Output tells a reader about a run. Methods may be called from several goroutines.
type Output interface {
	// Note is a remark about the run as a whole: warnings, what happens next.
	Note(text string)
	Start(job Job, how How)
	JobWaiting(w JobWait)
	Progress(p Progress)
	Log(l Line)
	PodFailed(f PodFailure)
	PodWaiting(w PodWait)
	Pull(p Pull)
	Finish(r Result)
	// Close says what is left to say.
	Close() error
}
