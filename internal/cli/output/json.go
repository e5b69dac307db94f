package output

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// JSON writes one object a line. Every object has "type" and "time"; those about a Job have "namespace" and "job".
//
//	{"type":"note", "text"}
//	{"type":"jobStarted", "how": "created" | "replaced" | "followed"}
//	{"type":"jobProgress", "active", "succeeded", "failed", "wanted", "suspended", "rate", "secondsLeft"}
//	{"type":"log", "pod", "container", "text"}
//	{"type":"podFailed", "pod", "reason", "message", "containers": [{"name", "exitCode", "signal", "reason", "message"}]}
//	{"type":"jobFinished", "outcome": "Complete" | "Failed" | "Deleted", "reason", "message", "succeeded", "failed",
//	 "seconds", "failedPods": [{"pod", "reason", "message", "containers", "lastLines"}], "moreFailedPods"}
//
// Fields are only ever added. A field that is left out is empty or 0.
type JSON struct {
	mu  sync.Mutex
	to  *json.Encoder
	now func() time.Time
	err error

	last map[Job]Progress
}

// jsonEvery spaces the jobProgress objects of one Job.
const jsonEvery = time.Second

type event struct {
	Type string    `json:"type"`
	Time time.Time `json:"time"`
	Text string    `json:"text,omitempty"`

	Namespace string `json:"namespace,omitempty"`
	Job       string `json:"job,omitempty"`
	How       How    `json:"how,omitempty"`

	*jsonProgress
	*jsonPod
	*jsonResult
}

type jsonProgress struct {
	Active      int32   `json:"active"`
	Succeeded   int32   `json:"succeeded"`
	Failed      int32   `json:"failed"`
	Wanted      int32   `json:"wanted,omitempty"`
	Suspended   bool    `json:"suspended,omitempty"`
	Rate        float64 `json:"rate,omitempty"`
	SecondsLeft float64 `json:"secondsLeft,omitempty"`
}

type jsonPod struct {
	Pod        string             `json:"pod"`
	Container  string             `json:"container,omitempty"`
	PodReason  string             `json:"reason,omitempty"`
	PodMessage string             `json:"message,omitempty"`
	Containers []ContainerFailure `json:"containers,omitempty"`
	LastLines  []string           `json:"lastLines,omitempty"`
}

type jsonResult struct {
	Outcome        Outcome   `json:"outcome"`
	Reason         string    `json:"reason,omitempty"`
	Message        string    `json:"message,omitempty"`
	Succeeded      int32     `json:"succeeded"`
	Failed         int32     `json:"failed"`
	Seconds        float64   `json:"seconds"`
	FailedPods     []jsonPod `json:"failedPods,omitempty"`
	MoreFailedPods int       `json:"moreFailedPods,omitempty"`
}

// NewJSON makes an output for programs.
func NewJSON(out io.Writer, now func() time.Time) *JSON {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return &JSON{to: encoder, now: now, last: map[Job]Progress{}}
}

func (j *JSON) emit(e event) {
	e.Time = j.now().UTC()
	if err := j.to.Encode(e); err != nil && j.err == nil {
		j.err = err
	}
}

func about(kind string, job Job) event {
	return event{Type: kind, Namespace: job.Namespace, Job: job.Name}
}

// Note implements Output.
func (j *JSON) Note(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.emit(event{Type: "note", Text: text})
}

// Start implements Output.
func (j *JSON) Start(job Job, how How) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := about("jobStarted", job)
	e.How = how
	j.emit(e)
}

// Progress implements Output.
func (j *JSON) Progress(p Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	last, seen := j.last[p.Job]
	if seen && (p.At.Sub(last.At) < jsonEvery || counts(p) == counts(last)) {
		return
	}
	j.last[p.Job] = p
	e := about("jobProgress", p.Job)
	e.jsonProgress = &jsonProgress{Active: p.Active, Succeeded: p.Succeeded, Failed: p.Failed, Wanted: p.Wanted,
		Suspended: p.Suspended, Rate: p.Rate, SecondsLeft: p.Left.Seconds()}
	j.emit(e)
}

// Log implements Output.
func (j *JSON) Log(l Line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := about("log", l.Job)
	e.Text = string(l.Text)
	e.jsonPod = &jsonPod{Pod: l.Pod, Container: l.Container}
	j.emit(e)
}

// PodFailed implements Output.
func (j *JSON) PodFailed(f PodFailure) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := about("podFailed", f.Job)
	e.jsonPod = podJSON(f)
	j.emit(e)
}

func podJSON(f PodFailure) *jsonPod {
	return &jsonPod{Pod: f.Pod, PodReason: f.Reason, PodMessage: f.Message, Containers: f.Containers, LastLines: f.LastLines}
}

// Finish implements Output.
func (j *JSON) Finish(r Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := about("jobFinished", r.Job)
	e.jsonResult = &jsonResult{Outcome: r.Outcome, Reason: r.Reason, Message: r.Message, Succeeded: r.Succeeded,
		Failed: r.Failures, Seconds: r.Took.Seconds(), MoreFailedPods: r.MorePods}
	for _, f := range r.Pods {
		e.FailedPods = append(e.FailedPods, *podJSON(f))
	}
	j.emit(e)
}

// Close implements Output.
func (j *JSON) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return fmt.Errorf("write JSON lines: %w", j.err)
	}
	return nil
}
