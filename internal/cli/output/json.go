package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

// JSON writes one object per line. Every object has "type" and "time"; objects about a Job have "namespace" and "job".
//
//	{"type":"note", "text"}
//	{"type":"jobStarted", "how": "created" | "replaced" | "followed"}
//	{"type":"jobWaiting", "for": ["NAME" | "NAME=END"], "missing": ["NAME"]}
//	{"type":"jobProgress", "active", "succeeded", "failed", "wanted", "suspended", "waitsFor": ["NAME"], "rate", "secondsLeft"}
//	{"type":"log", "pod", "container", "text"}
//	{"type":"podFailed", "pod", "reason", "message", "containers": [{"name", "exitCode", "signal", "reason", "message"}]}
//	{"type":"podWaiting", "pod", "reason", "message"}
//	{"type":"imagePull", "image", "done", "total", "seconds", "ended", "arrived"}
//	{"type":"jobFinished", "outcome": "Complete" | "Failed" | "Deleted", "reason", "message", "succeeded", "failed",
//	 "seconds", "failedPods": [{"pod", "reason", "message", "containers", "lastLines"}], "moreFailedPods",
//	 "waitingPods": [{"pod", "reason", "message"}], "moreWaitingPods"}
//
// A missing field is empty or 0. Fields may be added, but none is removed or changed.
type JSON struct {
	mu  sync.Mutex
	to  *json.Encoder
	now func() time.Time
	err error

	last map[Job]Progress
}

// jsonEvery is the shortest time between two jobProgress objects of one Job.
const jsonEvery = time.Second

// header has the first fields of every object.
type header struct {
	Type      string    `json:"type"`
	Time      time.Time `json:"time"`
	Namespace string    `json:"namespace,omitempty"`
	Job       string    `json:"job,omitempty"`
}

type jsonNote struct {
	header
	Text string `json:"text"`
}

type jsonStart struct {
	header
	How How `json:"how"`
}

type jsonWaiting struct {
	header
	For     []string `json:"for"`
	Missing []string `json:"missing,omitempty"`
}

type jsonProgress struct {
	header
	Active      int32    `json:"active"`
	Succeeded   int32    `json:"succeeded"`
	Failed      int32    `json:"failed"`
	Wanted      int32    `json:"wanted,omitempty"`
	Suspended   bool     `json:"suspended,omitempty"`
	WaitsFor    []string `json:"waitsFor,omitempty"`
	Rate        float64  `json:"rate,omitempty"`
	SecondsLeft float64  `json:"secondsLeft,omitempty"`
}

type jsonLog struct {
	header
	Pod       string `json:"pod"`
	Container string `json:"container"`
	Text      string `json:"text"`
}

type jsonPodFailed struct {
	header
	jsonPod
}

type jsonPod struct {
	Pod        string             `json:"pod"`
	Reason     string             `json:"reason,omitempty"`
	Message    string             `json:"message,omitempty"`
	Containers []ContainerFailure `json:"containers,omitempty"`
	LastLines  []string           `json:"lastLines,omitempty"`
}

type jsonPodWaiting struct {
	header
	jsonWait
}

type jsonWait struct {
	Pod     string `json:"pod"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type jsonResult struct {
	header
	Outcome         Outcome    `json:"outcome"`
	Reason          string     `json:"reason,omitempty"`
	Message         string     `json:"message,omitempty"`
	Succeeded       int32      `json:"succeeded"`
	Failed          int32      `json:"failed"`
	Seconds         float64    `json:"seconds"`
	FailedPods      []jsonPod  `json:"failedPods,omitempty"`
	MoreFailedPods  int        `json:"moreFailedPods,omitempty"`
	WaitingPods     []jsonWait `json:"waitingPods,omitempty"`
	MoreWaitingPods int        `json:"moreWaitingPods,omitempty"`
}

// NewJSON returns an output for programs.
func NewJSON(out io.Writer, now func() time.Time) *JSON {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return &JSON{to: encoder, now: now, last: map[Job]Progress{}}
}

func (j *JSON) emit(object any) {
	if err := j.to.Encode(object); err != nil && j.err == nil {
		j.err = err
	}
}

func (j *JSON) about(kind string, job Job) header {
	return header{Type: kind, Time: j.now().UTC(), Namespace: job.Namespace, Job: job.Name}
}

// Note implements Output.
func (j *JSON) Note(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.emit(jsonNote{j.about("note", Job{}), text})
}

// Start implements Output.
func (j *JSON) Start(job Job, how How) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.emit(jsonStart{j.about("jobStarted", job), how})
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
	j.emit(jsonProgress{header: j.about("jobProgress", p.Job), Active: p.Active, Succeeded: p.Succeeded, Failed: p.Failed,
		Wanted: p.Wanted, Suspended: p.Suspended, WaitsFor: p.WaitsFor, Rate: p.Rate, SecondsLeft: p.Left.Seconds()})
}

// Log implements Output.
func (j *JSON) Log(l Line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.emit(jsonLog{j.about("log", l.Job), l.Pod, l.Container, string(l.Text)})
}

// PodFailed implements Output.
func (j *JSON) PodFailed(f PodFailure) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.emit(jsonPodFailed{j.about("podFailed", f.Job), podJSON(f)})
}

func podJSON(f PodFailure) jsonPod {
	return jsonPod{Pod: f.Pod, Reason: f.Reason, Message: f.Message, Containers: f.Containers, LastLines: f.LastLines}
}

// PodWaiting implements Output.
func (j *JSON) PodWaiting(w PodWait) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.emit(jsonPodWaiting{j.about("podWaiting", w.Job), jsonWait{w.Pod, w.Reason, w.Message}})
}

// JobWaiting implements Output.
func (j *JSON) JobWaiting(w JobWait) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.emit(jsonWaiting{j.about("jobWaiting", w.Job), w.For, w.Missing})
}

// Finish implements Output.
func (j *JSON) Finish(r Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	object := jsonResult{header: j.about("jobFinished", r.Job), Outcome: r.Outcome, Reason: r.Reason, Message: r.Message,
		Succeeded: r.Succeeded, Failed: r.Failures, Seconds: r.Took.Seconds(), MoreFailedPods: r.MorePods, MoreWaitingPods: r.MoreWaiting}
	for _, f := range r.Pods {
		object.FailedPods = append(object.FailedPods, podJSON(f))
	}
	for _, w := range r.Waiting {
		object.WaitingPods = append(object.WaitingPods, jsonWait{w.Pod, w.Reason, w.Message})
	}
	j.emit(object)
}

// Close implements Output. A reader that has closed the pipe is no error.
func (j *JSON) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil && !errors.Is(j.err, syscall.EPIPE) {
		return fmt.Errorf("write JSON lines: %w", j.err)
	}
	return nil
}
